//! A TCP port that is ours for as long as we say, whether or not a server listens on it.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

use anyhow::{Context, Result};
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

/// A port that nobody else is given.
///
/// A socket is bound to it and never listens: connections are refused until a server that shares
/// ports (`SO_REUSEPORT`) listens there too, and again when that one is gone.
#[derive(Debug)]
pub(crate) struct Port {
    address: SocketAddrV4,
    _bound: OwnedFd,
}

impl Port {
    /// Takes a free port of an address.
    pub(crate) fn reserve(ip: Ipv4Addr) -> Result<Self> {
        let (kind, flags) = (SocketType::STREAM, SocketFlags::CLOEXEC);
        let socket = rustix::net::socket_with(AddressFamily::INET, kind, flags, None)?;
        sockopt::set_socket_reuseport(&socket, true)?;
        rustix::net::bind(&socket, &SocketAddrV4::new(ip, 0))
            .with_context(|| format!("taking a port of {ip}"))?;
        let address = SocketAddrV4::try_from(rustix::net::getsockname(&socket)?)
            .context("a port of another family")?;
        Ok(Self { address, _bound: socket })
    }

    /// Address and port.
    pub(crate) fn address(&self) -> SocketAddrV4 {
        self.address
    }
}
