//! Ports: the usual ones where they are free, others where they are not.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use anyhow::Context;

/// Where everything listens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ports {
    pub(super) rpc: SocketAddr,
    pub(super) chain_grpc: SocketAddr,
    pub(super) gateway: SocketAddr,
    pub(super) gateway_grpc: SocketAddr,
    pub(super) web: SocketAddr,
}

impl Ports {
    /// Chooses ports; which of the usual ones are taken by others.
    ///
    /// # Errors
    ///
    /// When there are no free ones.
    pub(super) fn choose() -> anyhow::Result<(Self, Vec<String>)> {
        let mut taken = Vec::new();
        let mut kept = Vec::new();
        let mut choose = |usual: u16, what: &str| {
            let (listener, address) = match bind(usual) {
                Ok(bound) => bound,
                Err(_) => {
                    let bound = bind(0).context("no port is free")?;
                    let port = bound.1.port();
                    taken.push(format!("port {usual} is in use: {what} takes {port} instead"));
                    bound
                }
            };
            // Kept until all are chosen, so that none is chosen twice.
            kept.push(listener);
            anyhow::Ok(address)
        };
        let ports = Self {
            rpc: choose(26657, "the chain")?,
            chain_grpc: choose(9090, "the chain's gRPC")?,
            gateway: choose(8443, "the provider")?,
            gateway_grpc: choose(8444, "the provider's gRPC")?,
            web: choose(8880, "the simulated cluster")?,
        };
        drop(kept);
        Ok((ports, taken))
    }
}

fn bind(port: u16) -> std::io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_all_different_and_free() {
        // Whatever runs beside this test, some port is taken: this one.
        let _mine = bind(8880);
        let (ports, taken) = Ports::choose().unwrap();
        let all = [ports.rpc, ports.chain_grpc, ports.gateway, ports.gateway_grpc, ports.web];
        let different: std::collections::BTreeSet<u16> = all.iter().map(SocketAddr::port).collect();
        assert_eq!(different.len(), all.len());
        assert_ne!(ports.web.port(), 8880);
        assert!(taken.iter().any(|note| note.contains("8880")), "{taken:?}");
    }
}
