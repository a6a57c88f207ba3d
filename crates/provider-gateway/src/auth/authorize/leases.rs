//! Which leases there are, as the engine publishes it.

use std::collections::HashSet;
use std::sync::Arc;

use akash_types::LeaseId;
use arc_swap::ArcSwapOption;

/// Whether a lease is active here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is.
    Active,
    /// It is not.
    Absent,
    /// Nobody knows yet. It may be asked for: the answer comes from what is kept under its id,
    /// and that is nothing if there is no such lease.
    Unknown,
}

/// Where it is known which leases there are.
pub trait LeaseIndex: Send + Sync {
    /// Whether a lease is active here; bseq does not matter.
    fn presence(&self, lease: &LeaseId) -> Presence;
}

/// The active leases of this provider, replaced as a whole. Unknown until it is first published.
#[derive(Debug, Default)]
pub struct Leases {
    active: ArcSwapOption<HashSet<LeaseId>>,
}

impl Leases {
    /// Says which leases are active now.
    pub fn publish(&self, active: impl IntoIterator<Item = LeaseId>) {
        let active = active.into_iter().collect();
        self.active.store(Some(Arc::new(active)));
    }
}

impl LeaseIndex for Leases {
    fn presence(&self, lease: &LeaseId) -> Presence {
        match self.active.load().as_ref() {
            None => Presence::Unknown,
            Some(active) if active.contains(lease) => Presence::Active,
            Some(_) => Presence::Absent,
        }
    }
}
