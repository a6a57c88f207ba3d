//! How long to wait before trying again.

use std::time::Duration;

/// A pause that doubles with every failure, up to a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// After the first failure.
    pub first: Duration,
    /// At most.
    pub most: Duration,
}

impl Retry {
    /// The pause after this many failures in a row, up to an eighth shorter by `seed`: what failed
    /// together does not come back together.
    #[must_use]
    pub fn pause(&self, failures: u32, seed: u64) -> Duration {
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1).min(31));
        let pause = self.first.saturating_mul(doubled).min(self.most);
        let parts = u32::try_from(seed % 128).unwrap_or(0);
        // Never nothing, or a failure would be repeated within one moment for ever.
        pause.saturating_sub(pause / 1024 * parts).max(Duration::from_millis(1))
    }
}
