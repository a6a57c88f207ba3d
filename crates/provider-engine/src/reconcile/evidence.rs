//! What proves that a lease is over.

use std::fmt;

use akash_types::{LeaseClosedReason, LeaseState};

/// A synced node said at two heights that the lease has ended. Only this allows destruction; the
/// absence of an answer, or of the lease, proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    state: LeaseState,
    reason: Option<LeaseClosedReason>,
    first: u64,
    confirmed: u64,
}

impl Evidence {
    /// Evidence, if `state` is an end and was read at two heights, the later one `confirmed`.
    pub const fn new(
        state: LeaseState,
        reason: Option<LeaseClosedReason>,
        first: u64,
        confirmed: u64,
    ) -> Option<Self> {
        match state {
            LeaseState::Closed | LeaseState::InsufficientFunds if first < confirmed => {
                Some(Self { state, reason, first, confirmed })
            }
            _ => None,
        }
    }

    /// How the lease ended.
    pub const fn state(&self) -> LeaseState {
        self.state
    }

    /// Why it ended, if the chain says.
    pub const fn reason(&self) -> Option<LeaseClosedReason> {
        self.reason
    }

    /// The two heights at which it was read.
    pub const fn heights(&self) -> (u64, u64) {
        (self.first, self.confirmed)
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { state, first, confirmed, .. } = self;
        write!(f, "the chain says {state} at heights {first} and {confirmed}")
    }
}
