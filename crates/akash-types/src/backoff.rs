//! How long to wait before trying again.

use std::time::Duration;

/// Waits that double from `first` to `most`, apart by a share, so that what failed together is not
/// tried again together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The first wait.
    pub first: Duration,
    /// The longest, before its share.
    pub most: Duration,
}

impl Backoff {
    /// The wait after `failures` in a row, longer by up to a quarter; with salt 0 not at all.
    pub fn after(self, failures: u32, salt: u64) -> Duration {
        let wait = self.doubled(failures);
        // A quarter, in 64 steps.
        let share = u32::try_from(salt.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58).unwrap_or(0);
        wait.saturating_add((wait / 256).saturating_mul(share))
    }

    /// The wait after `failures` in a row, shorter by up to an eighth: never longer than `most`.
    pub fn within(self, failures: u32, salt: u64) -> Duration {
        let wait = self.doubled(failures);
        let parts = u32::try_from(salt % 128).unwrap_or(0);
        // Never nothing, or a failure would be repeated within one moment for ever.
        wait.saturating_sub(wait / 1024 * parts).max(Duration::from_millis(1))
    }

    fn doubled(self, failures: u32) -> Duration {
        let factor = 2_u32.saturating_pow(failures.saturating_sub(1).min(31));
        self.first.saturating_mul(factor).min(self.most)
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
            assert_eq!(backoff.after(failures, 0), least);
            for salt in 0..100 {
                let wait = backoff.after(failures, salt);
                assert!(wait >= least && wait < least + least / 4, "{failures} {salt} {wait:?}");
            }
        }
        assert_ne!(backoff.after(5, 1), backoff.after(5, 2));
        for salt in 0..128 {
            let wait = backoff.within(9999, salt);
            assert!(wait <= backoff.most && wait >= backoff.most * 7 / 8, "{salt} {wait:?}");
        }
        assert!(backoff.within(5, 127) < backoff.within(5, 0));
        let none = Backoff { first: Duration::ZERO, most: Duration::ZERO };
        assert!(none.within(5, 0) > Duration::ZERO);
    }
}
