//! Which leases there are, as the engine publishes it.

use akash_types::LeaseId;

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
