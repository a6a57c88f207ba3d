//! How a lease is, for its tenant.

use std::net::IpAddr;

/// How a lease is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaseStatus {
    /// Its services, sorted by name.
    pub services: Vec<ServiceStatus>,
}

/// How a service of a lease is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceStatus {
    /// Its name.
    pub name: String,
    /// In one word.
    pub phase: Phase,
    /// Why it is not ready, in plain words; `None` if it is.
    pub why: Option<String>,
    /// How many replicas are in which state.
    pub counts: Counts,
    /// How often its containers were started again, all replicas together.
    pub restarts: u32,
    /// How the container that ended last ended, if one did.
    pub last_exit: Option<LastExit>,
    /// Hostnames that lead to it.
    pub hostnames: Vec<String>,
    /// Ports of the provider that lead to it.
    pub ports: Vec<ForwardedPort>,
    /// Addresses of its own that lead to it.
    pub ips: Vec<LeasedIp>,
}

/// How a service is, in one word. The first that holds, from the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// It was told to end.
    Ending,
    /// As many replicas do their work as were asked for.
    Ready,
    /// Some do, some do not.
    Degraded,
    /// A replica fails, and none works.
    Failing,
    /// A replica finds no place, and none works.
    Pending,
    /// All are on their way.
    Starting,
}

impl Phase {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ending => "ending",
            Self::Ready => "ready",
            Self::Degraded => "degraded",
            Self::Failing => "failing",
            Self::Pending => "pending",
            Self::Starting => "starting",
        }
    }
}

/// How many replicas of a service are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The manifest asks for.
    pub wanted: u32,
    /// Exist, in whatever state.
    pub existing: u32,
    /// Are of the newest manifest.
    pub updated: u32,
    /// Do their work.
    pub ready: u32,
    /// How often what the cluster was told of the service has changed, from 1.
    pub generation: i64,
}

/// How a container ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastExit {
    /// What it returned; 128 and the signal's number if it was killed.
    pub code: i32,
    /// Why, in plain words.
    pub reason: String,
}

/// A port of the provider that leads to a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardedPort {
    /// Where to connect to; `None` if the driver does not know the provider's public name.
    pub host: Option<String>,
    /// The container's port.
    pub port: u16,
    /// The port outside.
    pub external_port: u16,
    /// What it carries.
    pub transport: Transport,
}

/// What a port carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

impl Transport {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
        }
    }
}

/// An address that leads to a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeasedIp {
    /// The container's port.
    pub port: u16,
    /// The port at the address.
    pub external_port: u16,
    /// What it carries.
    pub transport: Transport,
    /// The address.
    pub address: IpAddr,
}
