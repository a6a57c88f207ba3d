//! Leases, as the chain holds them.

use std::time::Duration;

use crate::{DecCoin, LeaseClosedReason, LeaseId, LeaseState};

/// A lease: a bid that won, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Which one.
    pub id: LeaseId,
    /// Its state.
    pub state: LeaseState,
    /// Price per block.
    pub price: DecCoin,
    /// Height at which it was created.
    pub created_at: u64,
    /// Height at which it was closed.
    pub closed_on: Option<u64>,
    /// Why it was closed.
    pub reason: Option<LeaseClosedReason>,
    /// How the provider may take it back; absent if it may close it at once.
    pub reclamation: Option<Reclamation>,
}

/// How a provider takes a lease back: it announces it, waits, then closes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reclamation {
    /// How long it must wait.
    pub window: Duration,
    /// Height at which it announced it.
    pub started_at: Option<u64>,
    /// Block time from which it may close, in seconds since 1970.
    pub deadline: Option<u64>,
    /// Why it takes the lease back.
    pub reason: Option<LeaseClosedReason>,
}
