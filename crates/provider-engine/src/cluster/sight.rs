//! How long the cluster was known and in sight, as counted by this process.
//!
//! A tenant can send a manifest only while the provider runs, follows the chain and sees its
//! cluster. Waits for a manifest are therefore measured here and not in block time: a downtime, a
//! chain that is caught up with in a second or an API server that is away leave them as they are.

use std::time::Duration;

use crate::time::{BlockTime, Now};

/// A moment on the [`SightClock`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SightTime(Duration);

impl SightTime {
    /// The moment `later` than this one.
    pub const fn after(self, later: Duration) -> Self {
        Self(self.0.saturating_add(later))
    }

    /// How long ago `earlier` was; zero if it was not.
    pub const fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// Counts while the cluster is known and in sight.
#[derive(Clone, Copy, Debug, Default)]
pub struct SightClock {
    time: SightTime,
    /// Up to where it was counted; `None` while the cluster is not in sight.
    counted: Option<(BlockTime, Now)>,
}

impl SightClock {
    /// The time that was counted.
    pub const fn time(&self) -> SightTime {
        self.time
    }

    /// A block came while the cluster was in sight, or was not. What passed since the last one
    /// counts if the cluster was in sight then too, and only as far as both clocks agree.
    pub fn tick(&mut self, in_sight: bool, block: BlockTime, now: Now) {
        if let Some((last, then)) = self.counted.filter(|_| in_sight) {
            self.time = self.time.after(block.since(last).min(now.since(then)));
        }
        self.counted = in_sight.then_some((block, now));
    }

    /// The cluster is out of sight from now on: what passed since the last block does not count.
    pub const fn stop(&mut self) {
        self.counted = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(clock: &mut SightClock, in_sight: bool, block: u64, now: u64) -> u64 {
        clock.tick(in_sight, BlockTime::from_unix(block), Now::new(Duration::from_secs(now)));
        clock.time().since(SightTime::default()).as_secs()
    }

    #[test]
    fn time_counts_only_between_two_blocks_with_the_cluster_in_sight() {
        let mut clock = SightClock::default();
        assert_eq!(tick(&mut clock, false, 100, 0), 0);
        assert_eq!(tick(&mut clock, true, 106, 6), 0);
        assert_eq!(tick(&mut clock, true, 112, 12), 6);
        clock.stop();
        assert_eq!(tick(&mut clock, true, 118, 18), 6);
        assert_eq!(tick(&mut clock, true, 124, 24), 12);
    }

    #[test]
    fn neither_a_chain_that_is_caught_up_with_nor_a_chain_that_stands_still_counts() {
        let mut clock = SightClock::default();
        tick(&mut clock, true, 0, 0);
        assert_eq!(tick(&mut clock, true, 90_000, 1), 1, "a day of blocks within a second");
        assert_eq!(tick(&mut clock, true, 90_006, 90_000), 7, "a day without a block");
    }
}
