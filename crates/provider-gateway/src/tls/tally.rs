//! What became of connections, counted.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::places::Places;

/// Counts what became of connections since the start.
#[derive(Debug)]
pub struct Tally {
    pub(super) places: Places<IpAddr>,
    pub(super) served: AtomicU64,
    pub(super) full: AtomicU64,
    pub(super) failed: AtomicU64,
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
    /// Whose handshake failed, or took too long.
    pub failed: u64,
    /// Whose certificate was refused.
    pub refused: u64,
    /// Idle ones that were closed to make room.
    pub crowded_out: u64,
    /// Open now, streams included.
    pub open: u64,
}

impl Tally {
    pub(super) fn new(places: Places<IpAddr>) -> Self {
        let [served, full, failed, refused, crowded_out] = Default::default();
        Self { places, served, full, failed, refused, crowded_out }
    }

    /// The counts now.
    #[must_use]
    pub fn snapshot(&self) -> TallySnapshot {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        TallySnapshot {
            served: count(&self.served),
            full: count(&self.full),
            failed: count(&self.failed),
            refused: count(&self.refused),
            crowded_out: count(&self.crowded_out),
            open: u64::try_from(self.places.taken()).unwrap_or(u64::MAX),
        }
    }

    pub(super) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}
