//! The topics, by the names they have on the wire.

use crate::fact::{
    BalanceStatus, BidEngineStatus, Block, ClusterStatus, InventoryCluster, InventoryNodes,
    InventoryStatus, InventoryStorage, LeaseChange, ManifestStatus,
};
use crate::message::{self, MalformedMessage};

/// What a fact is about. Each topic has one type of fact and, by custom, one publisher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// Leases in the cluster, counted.
    ClusterStatus,
    /// Orders and bids, counted.
    BidEngineStatus,
    ManifestStatus,
    /// Capacity as the provider computes it.
    InventoryStatus,
    /// What the provider's account holds.
    BalanceStatus,
    /// The cluster as the inventory operator sees it.
    InventoryCluster,
    InventoryNodes,
    InventoryStorage,
    ChainBlock,
    /// The lease that changed last.
    Lease,
}

impl Topic {
    pub(crate) const COUNT: usize = 10;

    /// All of them, in the order in which they are declared.
    pub const ALL: [Self; Self::COUNT] = [
        Self::ClusterStatus,
        Self::BidEngineStatus,
        Self::ManifestStatus,
        Self::InventoryStatus,
        Self::BalanceStatus,
        Self::InventoryCluster,
        Self::InventoryNodes,
        Self::InventoryStorage,
        Self::ChainBlock,
        Self::Lease,
    ];

    /// Its name: the key that holds the newest message, and the channel that announces it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClusterStatus => "akash.provider.cluster.status",
            Self::BidEngineStatus => "akash.provider.bidengine.status",
            Self::ManifestStatus => "akash.provider.manifest.status",
            Self::InventoryStatus => "akash.provider.inventory.status",
            Self::BalanceStatus => "akash.provider.balance.status",
            Self::InventoryCluster => "inventory.cluster",
            Self::InventoryNodes => "inventory.nodes",
            Self::InventoryStorage => "inventory.storage",
            Self::ChainBlock => "akash.provider.chain.block",
            Self::Lease => "akash.provider.lease",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|topic| topic.name() == name)
    }

    /// Whether a payload holds a fact of this topic.
    pub fn check(self, payload: &str) -> Result<(), MalformedMessage> {
        let check = match self {
            Self::ClusterStatus => message::check::<ClusterStatus>,
            Self::BidEngineStatus => message::check::<BidEngineStatus>,
            Self::ManifestStatus => message::check::<ManifestStatus>,
            Self::InventoryStatus => message::check::<InventoryStatus>,
            Self::BalanceStatus => message::check::<BalanceStatus>,
            Self::InventoryCluster => message::check::<InventoryCluster>,
            Self::InventoryNodes => message::check::<InventoryNodes>,
            Self::InventoryStorage => message::check::<InventoryStorage>,
            Self::ChainBlock => message::check::<Block>,
            Self::Lease => message::check::<LeaseChange>,
        };
        check(payload)
    }

    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_is_found_by_its_name_and_stands_at_its_index() {
        for (index, topic) in Topic::ALL.into_iter().enumerate() {
            assert_eq!(Topic::named(topic.name()), Some(topic));
            assert_eq!(topic.index(), index);
        }
        assert_eq!(Topic::named("akash.provider.nothing"), None);
    }
}
