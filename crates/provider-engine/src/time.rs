//! The two clocks of the engine, neither of which it reads.
//!
//! [`BlockTime`] is what the chain says: deadlines of bids and reclamation are measured with it, so
//! that a restart moves none of them. [`Now`] is the machine's monotonic clock: it paces retries.
//! Waits for manifests count on both, see [`SightClock`](crate::cluster::sight::SightClock).

use std::time::Duration;

/// A moment of the machine, since an origin that means nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Now(Duration);

impl Now {
    /// A moment `since` the origin.
    pub const fn new(since: Duration) -> Self {
        Self(since)
    }

    /// How long after the origin it is.
    pub const fn since_origin(self) -> Duration {
        self.0
    }

    /// The moment `later` than this one.
    pub const fn after(self, later: Duration) -> Self {
        Self(self.0.saturating_add(later))
    }

    /// How long ago `earlier` was; zero if it was not.
    pub const fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// A moment of the chain, in seconds since 1970.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, derive_more::Display,
)]
#[display("{} s", self.0)]
pub struct BlockTime(u64);

impl BlockTime {
    /// The moment `seconds` after the start of 1970.
    pub const fn from_unix(seconds: u64) -> Self {
        Self(seconds)
    }

    /// Seconds since the start of 1970.
    pub const fn unix(self) -> u64 {
        self.0
    }

    /// The moment `later` than this one, in whole seconds, rounded up: no deadline comes early.
    pub const fn after(self, later: Duration) -> Self {
        let part = if later.subsec_nanos() > 0 { 1 } else { 0 };
        Self(self.0.saturating_add(later.as_secs()).saturating_add(part))
    }

    /// How long ago `earlier` was; zero if it was not.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_secs(self.0.saturating_sub(earlier.0))
    }
}
