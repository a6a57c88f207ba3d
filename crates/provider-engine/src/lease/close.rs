//! Why we close a lease, and the way there.

use std::fmt;

use akash_types::LeaseClosedReason;

use super::{LeaseAction, LeaseLife, OnChain};
use crate::time::BlockTime;

/// Why a lease is to be closed by us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LeaseCause {
    /// The tenant sent no manifest in time.
    ManifestTimeout,
    /// The workload stayed unhealthy for longer than the budget allows.
    Unhealthy,
    /// Its pods found no place for longer than the budget allows.
    Unschedulable,
    /// The operator said so, with a reason of the provider's range.
    Operator(LeaseClosedReason),
}

impl LeaseCause {
    /// What the chain is told.
    #[must_use]
    pub const fn reason(self) -> LeaseClosedReason {
        match self {
            Self::ManifestTimeout => LeaseClosedReason::MANIFEST_TIMEOUT,
            Self::Unhealthy | Self::Unschedulable => LeaseClosedReason::UNSTABLE,
            Self::Operator(reason) => reason,
        }
    }

    /// Whether it follows from what the cluster shows: many of these at once say more of the
    /// cluster than of the leases.
    #[must_use]
    pub const fn is_from_the_cluster(self) -> bool {
        matches!(self, Self::Unhealthy | Self::Unschedulable)
    }
}

impl fmt::Display for LeaseCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ManifestTimeout => f.write_str("no manifest came in time"),
            Self::Unhealthy => f.write_str("the workload stayed unhealthy"),
            Self::Unschedulable => f.write_str("its pods found no place"),
            Self::Operator(reason) => write!(f, "the operator asked for it ({reason})"),
        }
    }
}

impl LeaseLife {
    /// What the chain has to be told next, if anything. Asked again whenever something about the
    /// lease changes, until the chain says that it is over: an attempt that failed is made again.
    #[must_use]
    pub fn drive_close(&self, time: BlockTime) -> Option<LeaseAction> {
        match (self.chain, self.closing) {
            (OnChain::Over { .. }, _) | (OnChain::Active { .. }, None) => None,
            (OnChain::Active { window: None }, Some(cause)) => {
                Some(LeaseAction::CloseBid(cause.reason()))
            }
            // The chain refuses to close a lease whose end was not announced.
            (OnChain::Active { window: Some(_) }, Some(cause)) => {
                Some(LeaseAction::StartReclaim(cause.reason()))
            }
            (OnChain::Reclaiming { deadline, reason }, _) if deadline <= time => {
                Some(LeaseAction::CloseBid(reason))
            }
            (OnChain::Reclaiming { deadline, .. }, _) => Some(LeaseAction::WakeAt(deadline)),
        }
    }
}
