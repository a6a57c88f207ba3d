//! Ports: the usual ones where they are free, others where they are not.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// A port that something would usually have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usual {
    pub(super) port: u16,
    /// Who would have it.
    pub(super) whose: &'static str,
}

pub(super) const CHAIN: Usual = Usual { port: 26657, whose: "the chain" };
pub(super) const CHAIN_GRPC: Usual = Usual { port: 9090, whose: "the chain's gRPC" };
pub(super) const CHAIN_API: Usual = Usual { port: 1317, whose: "the chain's REST API" };
pub(super) const GATEWAY: Usual = Usual { port: 8443, whose: "the provider" };
pub(super) const GATEWAY_GRPC: Usual = Usual { port: 8444, whose: "the provider's gRPC" };
pub(super) const WEB: Usual = Usual { port: 8880, whose: "the simulated cluster" };

/// How often somebody else may be faster.
const TRIES: usize = 5;

impl Usual {
    /// The usual address if it is free now, and otherwise one that is.
    fn choose(self) -> std::io::Result<SocketAddr> {
        bind(self.port).or_else(|_| bind(0))
    }

    /// What to say of an address that was chosen, if it is not the usual one.
    pub(super) fn note(self, chosen: SocketAddr) -> Option<String> {
        let Self { port, whose } = self;
        let other = chosen.port();
        (other != port).then(|| format!("port {port} is in use: {whose} takes {other} instead"))
    }
}

/// Starts something on ports that are free. Between choosing one and taking it somebody else may
/// take it: then others are chosen.
pub(super) async fn start<T, const N: usize>(
    usual: [Usual; N],
    mut start: impl AsyncFnMut([SocketAddr; N]) -> anyhow::Result<T>,
) -> anyhow::Result<(T, [SocketAddr; N])> {
    let mut tries = 0;
    loop {
        let mut chosen = [SocketAddr::from((Ipv4Addr::LOCALHOST, 0)); N];
        for (address, usual) in chosen.iter_mut().zip(usual) {
            *address = usual.choose()?;
        }
        tries += 1;
        match start(chosen).await {
            Err(error) if is_taken(&error) && tries < TRIES => {}
            started => return started.map(|started| (started, chosen)),
        }
    }
}

/// Whether somebody else was faster.
fn is_taken(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    causes.any(|cause| cause.kind() == std::io::ErrorKind::AddrInUse)
}

fn bind(port: u16) -> std::io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))?.local_addr()
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[tokio::test]
    async fn a_port_that_is_taken_is_avoided_and_named() {
        let mine = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let usual = Usual { port: mine.local_addr().unwrap().port(), whose: "a test" };
        let chosen = usual.choose().unwrap();
        assert_ne!(chosen.port(), usual.port);
        let note = usual.note(chosen).unwrap();
        assert!(note.starts_with(&format!("port {} is in use: a test takes ", usual.port)));
        drop(mine);
        assert_eq!(usual.note(usual.choose().unwrap()), None);
    }

    #[tokio::test]
    async fn who_was_not_fast_enough_tries_another() {
        let mut others = Vec::new();
        let (listener, [address]) = start([WEB], async |[address]| {
            if others.len() < 2 {
                // Somebody takes it at the last moment.
                others.push(TcpListener::bind(address));
            }
            TcpListener::bind(address).context("cannot listen")
        })
        .await
        .unwrap();
        assert_eq!(listener.local_addr().unwrap(), address);
        let refused = start([WEB], async |_| anyhow::bail!("no")).await;
        assert_eq!(refused.map(|(never, _): ((), _)| never).unwrap_err().to_string(), "no");
    }
}
