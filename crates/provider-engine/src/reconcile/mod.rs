//! The chain, the cluster and the engine compared, and what the difference allows.
//!
//! Three views: leases, bids and orders on chain; manifests and workloads in the cluster; the
//! engine's own. They are compared when it starts, every period, and when somebody says that it
//! would be worth it. What differs is a [`Drift`], and leads to looking; only [`Evidence`] leads
//! to destruction, and the [`Breaker`] stops that too when too much looks bad at once. A [`Rival`] is
//! another provider with the same key.

mod breaker;
mod drift;
mod engine;
mod state;

use std::fmt;
use std::time::Duration;

use akash_types::{LeaseClosedReason, LeaseState};

use crate::time::BlockTime;

pub use breaker::{Breaker, BreakerSettings, Verdict};
pub use drift::Drift;
pub(crate) use state::Reconciliation;

/// A synced node said at two heights that the lease has ended. Only this allows destruction; the
/// absence of an answer, or of the lease, proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    state: LeaseState,
    reason: Option<LeaseClosedReason>,
    first: u64,
    confirmed: u64,
}

impl Evidence {
    /// Evidence, if `state` is an end and was read at two heights, the later one `confirmed`.
    pub const fn new(
        state: LeaseState,
        reason: Option<LeaseClosedReason>,
        first: u64,
        confirmed: u64,
    ) -> Option<Self> {
        match state {
            LeaseState::Closed | LeaseState::InsufficientFunds if first < confirmed => {
                Some(Self { state, reason, first, confirmed })
            }
            _ => None,
        }
    }

    pub const fn state(&self) -> LeaseState {
        self.state
    }

    /// Why it ended, if the chain says.
    pub const fn reason(&self) -> Option<LeaseClosedReason> {
        self.reason
    }

    /// The two heights at which it was read.
    pub const fn heights(&self) -> (u64, u64) {
        (self.first, self.confirmed)
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { state, first, confirmed, .. } = self;
        write!(f, "the chain says {state} at heights {first} and {confirmed}")
    }
}

/// Transactions of an earlier run can come into a block for as long as this after a start.
const EARLIER_TRANSACTIONS: u64 = 32;

/// No closes are proposed until this long passed without another such bid.
const SUSPICION: Duration = Duration::from_secs(86_400);

/// What is known of a second provider with our key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rival {
    first_block: Option<u64>,
    last_seen: Option<BlockTime>,
}

impl Rival {
    /// The engine acts from the block `height` on.
    pub const fn begin(&mut self, height: u64) {
        if self.first_block.is_none() {
            self.first_block = Some(height);
        }
    }

    /// A bid of ours that this process did not sign came into the block `height`. True if it shows
    /// a rival that was not known.
    pub fn bid(&mut self, height: u64, time: BlockTime) -> bool {
        let Some(first) = self.first_block else { return false };
        if height <= first.saturating_add(EARLIER_TRANSACTIONS) {
            return false;
        }
        let was_active = self.is_active(time);
        self.last_seen = self.last_seen.max(Some(time));
        !was_active
    }

    /// Whether another provider with our key acted within the last day.
    pub fn is_active(&self, time: BlockTime) -> bool {
        self.last_seen.is_some_and(|seen| time.since(seen) < SUSPICION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> BlockTime {
        BlockTime::from_unix(seconds)
    }

    #[test]
    fn transactions_of_an_earlier_run_are_no_rival() {
        let mut rival = Rival::default();
        assert!(!rival.bid(500, at(0)), "before the start nothing is ours");
        rival.begin(100);
        assert!(!rival.bid(132, at(10)));
        assert!(!rival.is_active(at(10)));
        assert!(rival.bid(133, at(20)));
        assert!(rival.is_active(at(20)));
    }

    #[test]
    fn a_rival_is_forgotten_after_a_day_without_a_bid() {
        let mut rival = Rival::default();
        rival.begin(0);
        assert!(rival.bid(100, at(1_000)));
        assert!(!rival.bid(101, at(1_006)), "it is known already");
        assert!(rival.is_active(at(1_005 + 86_400)));
        assert!(!rival.is_active(at(1_006 + 86_400)));
        assert!(rival.bid(200, at(1_006 + 86_400)), "and noticed anew");
    }
}
