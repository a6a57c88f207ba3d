//! Where the three views disagree.

use akash_types::{LeaseId, OrderId};

/// One disagreement. It says what was seen, not what to do: looking comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, derive_more::Display)]
pub enum Drift {
    /// The chain has an open order that nobody told us of.
    #[display("order {_0} is open on chain and was not noticed")]
    OrderUnnoticed(OrderId),
    /// The chain has a bid of ours that we do not know.
    #[display("the chain has a bid of ours on order {_0} that we do not know")]
    BidUnknown(OrderId),
    /// We think that our bid is open; the chain does not list it.
    #[display("our bid on order {_0} is not among the open ones on chain")]
    BidMissing(OrderId),
    /// The chain has a lease of ours that we do not know.
    #[display("the chain has lease {_0} of ours that we do not know")]
    LeaseUnknown(LeaseId),
    /// We think that a lease is alive; the chain does not list it.
    #[display("lease {_0} is not among the active ones on chain")]
    LeaseMissing(LeaseId),
    /// The cluster has something of a lease that is not ours to run.
    #[display("the cluster has something of lease {_0}, which we do not know")]
    WorkloadWithoutLease(LeaseId),
    /// The cluster has something of a lease that the chain knows nothing of. Nothing is done
    /// about it: absence proves nothing.
    #[display(
        "the cluster has something of lease {_0}, which the chain does not know; it is left alone"
    )]
    WorkloadUnknownToChain(LeaseId),
    /// A lease was deployed, and the cluster has nothing of it.
    #[display("lease {_0} was deployed and the cluster has nothing of it")]
    WorkloadMissing(LeaseId),
    /// The cluster has objects of a lease and not its Manifest.
    #[display(
        "lease {_0} has objects in the cluster and no Manifest: its tenant has to send \
                 the manifest again"
    )]
    ManifestMissing(LeaseId),
    /// A lease that was probably deployed has no object in the cluster; its tenant has to send the
    /// manifest again.
    #[display(
        "lease {_0} has no object in the cluster: its tenant has to send the manifest \
                 again, or `ctl lease close --lost` ends it"
    )]
    LeaseLost(LeaseId),
    /// A lease is over, and something of it does not go away.
    #[display("lease {_0} is over and something of it does not go away")]
    StuckTeardown(LeaseId),
}

impl Drift {
    /// A name for metrics.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::OrderUnnoticed(_) => "order_unnoticed",
            Self::BidUnknown(_) => "bid_unknown",
            Self::BidMissing(_) => "bid_missing",
            Self::LeaseUnknown(_) => "lease_unknown",
            Self::LeaseMissing(_) => "lease_missing",
            Self::WorkloadWithoutLease(_) => "workload_without_lease",
            Self::WorkloadUnknownToChain(_) => "workload_unknown_to_chain",
            Self::WorkloadMissing(_) => "workload_missing",
            Self::ManifestMissing(_) => "manifest_missing",
            Self::LeaseLost(_) => "lease_lost",
            Self::StuckTeardown(_) => "stuck_teardown",
        }
    }

    pub const fn order(&self) -> OrderId {
        match self {
            Self::OrderUnnoticed(order) | Self::BidUnknown(order) | Self::BidMissing(order) => {
                *order
            }
            Self::LeaseUnknown(lease)
            | Self::LeaseMissing(lease)
            | Self::WorkloadWithoutLease(lease)
            | Self::WorkloadUnknownToChain(lease)
            | Self::WorkloadMissing(lease)
            | Self::ManifestMissing(lease)
            | Self::LeaseLost(lease)
            | Self::StuckTeardown(lease) => lease.order_id(),
        }
    }
}
