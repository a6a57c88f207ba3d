//! Real time for a core.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// Moments of a core, from an origin on.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: Instant,
    offset: Duration,
}

impl Clock {
    pub fn from_zero() -> Self {
        Self { started: Instant::now(), offset: Duration::ZERO }
    }

    /// Counts from 1970, so that a moment means the same after a restart.
    pub fn of_day() -> Self {
        let offset = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { started: Instant::now(), offset }
    }

    /// The moment that it is. It never goes back, whatever is done to the machine's clock.
    pub fn now(&self) -> Duration {
        self.offset.saturating_add(self.started.elapsed())
    }

    /// How long it is until `due`.
    pub(super) fn until(&self, due: Duration) -> Duration {
        due.saturating_sub(self.now())
    }
}
