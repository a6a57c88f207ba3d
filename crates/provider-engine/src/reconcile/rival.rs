//! Notices a second provider with the same key.
//!
//! Two daemons with one key do not see each other's cluster: what runs in one is missing in the
//! other. One bid of ours that this process did not sign shows that there is another.

use std::time::Duration;

use crate::time::BlockTime;

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
