//! What became of connections, counted.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::places::Places;

/// Counts what became of connections since the start.
#[derive(Debug)]
pub struct Tally {
    pub(super) places: Places<IpAddr>,
    pub(super) served: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) slow: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) crowded_out: AtomicU64,
}

/// The counts at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TallySnapshot {
    /// Connections that came to speak HTTP.
    pub served: u64,
    /// Closed for want of a place.
    pub full: u64,
    pub full_of_client: u64,
    /// Whose handshake failed, or took too long.
    pub failed: u64,
    /// Those of them that took too long.
    pub slow: u64,
    pub refused: u64,
    /// Idle ones that were closed to make room.
    pub crowded_out: u64,
    /// Open now, streams included.
    pub open: u64,
}

impl Tally {
    pub(super) fn new(places: Places<IpAddr>) -> Self {
        let [served, failed, slow, refused, crowded_out] = Default::default();
        Self { places, served, failed, slow, refused, crowded_out }
    }

    #[must_use]
    pub fn snapshot(&self) -> TallySnapshot {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let full = self.places.refused();
        TallySnapshot {
            served: count(&self.served),
            full: full.all.saturating_add(full.share),
            full_of_client: full.share,
            failed: count(&self.failed).saturating_add(count(&self.slow)),
            slow: count(&self.slow),
            refused: count(&self.refused),
            crowded_out: count(&self.crowded_out),
            open: u64::try_from(self.places.taken()).unwrap_or(u64::MAX),
        }
    }

    pub(super) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}
