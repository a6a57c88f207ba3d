//! When a new status is worth its cost.

use std::time::Duration;

use tokio::time::Instant;

/// Shortest time between two.
const SHORTEST: Duration = Duration::from_millis(50);
/// The share of time that making them may take, as a divisor.
const SHARE: u32 = 20;

/// Says when a status is due: soon after something changed, never so often that making them takes
/// more than a twentieth of the time.
#[derive(Debug)]
pub(super) struct Pace {
    changed: bool,
    not_before: Instant,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { changed: false, not_before: Instant::now() }
    }

    /// Something may look different.
    pub(super) const fn changed(&mut self) {
        self.changed = true;
    }

    /// When the next one is due, if one is.
    pub(super) fn due(&self) -> Option<Instant> {
        self.changed.then_some(self.not_before)
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.changed && now >= self.not_before
    }

    /// One is out, and took so long to make.
    pub(super) fn shown(&mut self, now: Instant, took: Duration) {
        self.changed = false;
        self.not_before = now + SHORTEST.max(took * SHARE);
    }
}
