//! What happened on chain, as far as a provider cares.
//!
//! The chain writes events as lists of texts; whoever reads blocks turns them into these. Names and
//! fields are those of the protocol's `Event*` messages.

use crate::{Address, BidId, DecCoin, DeploymentId, GroupId, LeaseClosedReason, LeaseId, OrderId};

/// One thing that happened on chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainEvent {
    /// A group asks for bids.
    OrderCreated {
        /// Which order.
        id: OrderId,
    },
    /// No more bids are taken.
    OrderClosed {
        /// Which order.
        id: OrderId,
    },
    /// A provider made an offer.
    BidCreated {
        /// Which bid.
        id: BidId,
        /// Price per block; absent if the chain wrote none that can be a price.
        price: Option<DecCoin>,
    },
    /// An offer is gone.
    BidClosed {
        /// Which bid.
        id: BidId,
    },
    /// A bid won.
    LeaseCreated {
        /// Which lease.
        id: LeaseId,
        /// Price per block; absent if the chain wrote none that can be a price.
        price: Option<DecCoin>,
    },
    /// A lease ended.
    LeaseClosed {
        /// Which lease.
        id: LeaseId,
        /// Why; absent if the chain gives no reason, or one that is in no known range.
        reason: Option<LeaseClosedReason>,
    },
    /// A provider announced that it takes a lease back.
    LeaseReclaimStarted {
        /// Which lease.
        id: LeaseId,
        /// Why; absent if the chain gives no reason, or one that is in no known range.
        reason: Option<LeaseClosedReason>,
        /// Block time from which it may close, in seconds since 1970.
        deadline: u64,
    },
    /// A tenant wants something to run.
    DeploymentCreated {
        /// Which deployment.
        id: DeploymentId,
        /// Hash of its manifest.
        hash: [u8; 32],
    },
    /// A tenant wants something else to run.
    DeploymentUpdated {
        /// Which deployment.
        id: DeploymentId,
        /// Hash of the new manifest.
        hash: [u8; 32],
    },
    /// A deployment ended.
    DeploymentClosed {
        /// Which deployment.
        id: DeploymentId,
    },
    /// A paused group goes on.
    GroupStarted {
        /// Which group.
        id: GroupId,
    },
    /// A group takes no leases for now.
    GroupPaused {
        /// Which group.
        id: GroupId,
    },
    /// A group ended.
    GroupClosed {
        /// Which group.
        id: GroupId,
    },
    /// An auditor vouches for a provider, or for more of it.
    TrustedAuditorCreated {
        /// The provider.
        owner: Address,
        /// Who vouches.
        auditor: Address,
    },
    /// An auditor takes its word back, or part of it.
    TrustedAuditorDeleted {
        /// The provider.
        owner: Address,
        /// Who vouched.
        auditor: Address,
    },
    /// A provider registered.
    ProviderCreated {
        /// Which one.
        owner: Address,
    },
    /// A provider changed its address, attributes or contact.
    ProviderUpdated {
        /// Which one.
        owner: Address,
    },
    /// A provider left.
    ProviderDeleted {
        /// Which one.
        owner: Address,
    },
}

impl ChainEvent {
    /// The deployment it is about, if it is about one.
    pub const fn deployment_id(&self) -> Option<DeploymentId> {
        Some(match self {
            Self::OrderCreated { id } | Self::OrderClosed { id } => id.deployment_id(),
            Self::BidCreated { id, .. } | Self::BidClosed { id } => id.deployment_id(),
            Self::LeaseCreated { id, .. }
            | Self::LeaseClosed { id, .. }
            | Self::LeaseReclaimStarted { id, .. } => id.deployment_id(),
            Self::DeploymentCreated { id, .. }
            | Self::DeploymentUpdated { id, .. }
            | Self::DeploymentClosed { id } => *id,
            Self::GroupStarted { id } | Self::GroupPaused { id } | Self::GroupClosed { id } => {
                id.deployment_id()
            }
            Self::TrustedAuditorCreated { .. }
            | Self::TrustedAuditorDeleted { .. }
            | Self::ProviderCreated { .. }
            | Self::ProviderUpdated { .. }
            | Self::ProviderDeleted { .. } => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_one_deployment_name_it() {
        let owner = Address::from_bytes(&[7; 20]).unwrap();
        let deployment = DeploymentId::new(owner, 5).unwrap();
        let group = GroupId::new(deployment, 1).unwrap();
        let order = OrderId::new(group, 2).unwrap();
        let lease = LeaseId::new(order, owner);
        for event in [
            ChainEvent::OrderCreated { id: order },
            ChainEvent::BidClosed { id: lease.bid_id() },
            ChainEvent::LeaseClosed { id: lease, reason: None },
            ChainEvent::DeploymentClosed { id: deployment },
            ChainEvent::GroupPaused { id: group },
        ] {
            assert_eq!(event.deployment_id(), Some(deployment), "{event:?}");
        }
        assert_eq!(ChainEvent::ProviderUpdated { owner }.deployment_id(), None);
    }
}
