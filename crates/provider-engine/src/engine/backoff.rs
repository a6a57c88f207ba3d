//! How long to wait before trying again.

use std::time::Duration;

/// Waits that double from `first` to `most`, apart by a share that depends on `salt`, so that what
/// failed together is not tried again together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Backoff {
    /// The first wait.
    pub(super) first: Duration,
    /// The longest.
    pub(super) most: Duration,
}

impl Backoff {
    /// For questions to the chain.
    pub(super) const QUERY: Self =
        Self { first: Duration::from_millis(500), most: Duration::from_secs(30) };
    /// For commands to the cluster.
    pub(super) const COMMAND: Self =
        Self { first: Duration::from_secs(1), most: Duration::from_secs(60) };
    /// For what the chain refused and may yet take.
    pub(super) const INTENT: Self =
        Self { first: Duration::from_secs(2), most: Duration::from_secs(300) };

    /// The wait after `failures` in a row.
    #[must_use]
    pub(super) fn after(self, failures: u32, salt: u64) -> Duration {
        let doubled = self.first.saturating_mul(1 << failures.saturating_sub(1).min(20));
        let wait = doubled.min(self.most);
        // A quarter, in 64 steps.
        let step = wait / 256;
        let share = u32::try_from(salt.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58).unwrap_or(0);
        wait.saturating_add(step.saturating_mul(share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_spread() {
        let backoff = Backoff { first: Duration::from_secs(1), most: Duration::from_secs(10) };
        for (failures, least) in [(0, 1), (1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (99, 10)] {
            let least = Duration::from_secs(least);
            for salt in 0..100 {
                let wait = backoff.after(failures, salt);
                assert!(wait >= least && wait < least + least / 4, "{failures} {salt} {wait:?}");
            }
        }
        assert_ne!(backoff.after(5, 1), backoff.after(5, 2));
    }
}
