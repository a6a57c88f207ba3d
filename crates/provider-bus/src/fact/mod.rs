//! What is told: one type per topic.
//!
//! These are formats that other programs read. Fields are added, never renamed, removed or given
//! another meaning; readers skip fields they do not know, and take a word they do not know for
//! `unknown`. A new field is optional. `docs/bus.md` shows each topic with an example.

mod chain;
mod inventory;
mod status;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::topic::Topic;

pub use chain::{Block, LeaseChange, LeaseState};
pub use inventory::{InventoryCluster, InventoryNodes, InventoryStorage, Node, StorageClass};
pub use status::{
    BalanceStatus, BidEngineStatus, ClusterStatus, Coin, InventoryStatus, ManifestStatus, Resources,
};

/// Something that can be told on its topic.
pub trait Fact: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Where it is told.
    const TOPIC: Topic;
}

impl Fact for ClusterStatus {
    const TOPIC: Topic = Topic::ClusterStatus;
}

impl Fact for BidEngineStatus {
    const TOPIC: Topic = Topic::BidEngineStatus;
}

impl Fact for ManifestStatus {
    const TOPIC: Topic = Topic::ManifestStatus;
}

impl Fact for InventoryStatus {
    const TOPIC: Topic = Topic::InventoryStatus;
}

impl Fact for BalanceStatus {
    const TOPIC: Topic = Topic::BalanceStatus;
}

impl Fact for InventoryCluster {
    const TOPIC: Topic = Topic::InventoryCluster;
}

impl Fact for InventoryNodes {
    const TOPIC: Topic = Topic::InventoryNodes;
}

impl Fact for InventoryStorage {
    const TOPIC: Topic = Topic::InventoryStorage;
}

impl Fact for Block {
    const TOPIC: Topic = Topic::ChainBlock;
}

impl Fact for LeaseChange {
    const TOPIC: Topic = Topic::Lease;
}
