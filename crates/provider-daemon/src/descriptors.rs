//! File descriptors: how many the process may have, and how many of them clients get.
//!
//! Every connection takes one. Clients that could take all of them would leave none for the chain,
//! the cluster, the store and the price script.

use provider_gateway::tls;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What the soft limit is raised to, where the hard limit allows it: more than all connections and
/// streams together take.
const WANTED: u64 = 65_536;
/// Most descriptors that are kept for the provider itself.
const RESERVE: u64 = 1_024;

/// Raises the soft limit of open files as far as wanted and allowed.
pub(crate) fn raise() {
    let limit = getrlimit(Resource::Nofile);
    let goal = limit.maximum.unwrap_or(u64::MAX).min(WANTED);
    if current(&limit) >= goal {
        return;
    }
    let raised = Rlimit { current: Some(goal), maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, goal, "the limit of open files cannot be raised");
    }
}

/// The soft limit; no limit is the largest number.
fn current(limit: &Rlimit) -> u64 {
    limit.current.unwrap_or(u64::MAX)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// Connections to each of the two listeners for tenants.
    pub(crate) connections: usize,
    /// Streams of tenants: each takes a connection to the cluster besides its own.
    pub(crate) streams: usize,
}

impl Shares {
    /// Of so many descriptors. A quarter, or [`RESERVE`], stays with the provider; the rest goes in
    /// equal parts to REST, gRPC and connections to the cluster for streams.
    pub(crate) fn of(descriptors: u64) -> Self {
        let reserve = (descriptors / 4).min(RESERVE);
        let part = descriptors.saturating_sub(reserve) / 3;
        let part = usize::try_from(part).unwrap_or(usize::MAX);
        Self {
            connections: part.min(tls::Limits::default().connections),
            streams: part.min(provider_gateway::Settings::default().streams),
        }
    }

    /// Limits of one listener, the connections of one client in proportion.
    pub(crate) fn limits(self) -> tls::Limits {
        let usual = tls::Limits::default();
        let per_client = usual.per_client.min(self.connections.div_ceil(4));
        tls::Limits { connections: self.connections, per_client, ..usual }
    }

    /// Of the limit that holds now. Less than usual is logged.
    pub(crate) fn of_process() -> Self {
        let descriptors = current(&getrlimit(Resource::Nofile));
        let shares = Self::of(descriptors);
        if shares.is_scarce() {
            let Self { connections, streams } = shares;
            tracing::warn!(
                descriptors,
                connections,
                streams,
                "limit of open files low: fewer connections and streams of tenants; raise its \
                 hard limit (LimitNOFILE, ulimit -Hn)"
            );
        }
        shares
    }

    fn is_scarce(self) -> bool {
        self != Self::of(WANTED)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn enough_descriptors_give_the_usual_limits() {
        let shares = Shares::of(WANTED);
        assert_eq!(shares.limits(), tls::Limits::default());
        assert_eq!(shares.streams, provider_gateway::Settings::default().streams);
        assert!(!shares.is_scarce());
        assert_eq!(Shares::of(u64::MAX), shares);
    }

    #[test]
    fn a_low_limit_leaves_a_quarter_to_the_provider() {
        let shares = Shares::of(256);
        assert_eq!(shares, Shares { connections: 64, streams: 64 });
        assert_eq!(shares.limits().per_client, 16);
        assert!(shares.is_scarce());
    }

    proptest! {
        #[test]
        fn clients_never_get_all(descriptors in 16_u64..200_000) {
            let Shares { connections, streams } = Shares::of(descriptors);
            let taken = (2 * connections + streams) as u64;
            prop_assert!(taken <= descriptors - (descriptors / 4).min(RESERVE));
            prop_assert!(connections > 0);
        }
    }
}
