//! What is told: one type per topic.
//!
//! These are formats that other programs read. Fields are added, never renamed, removed or given
//! another meaning; readers skip fields they do not know, and take a word they do not know for
//! `unknown`. A new field is optional. `docs/bus.md` shows each topic with an example.

mod status;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::message::Topic;

pub use status::{
    BalanceStatus, BidEngineStatus, ClusterStatus, Coin, InventoryStatus, ManifestStatus, Resources,
};

/// Something that can be told on its topic.
pub trait Fact: Serialize + DeserializeOwned + Send + Sync + 'static {
    const TOPIC: Topic;
}

macro_rules! facts {
    ($($fact:ident: $topic:ident),+ $(,)?) => {
        $(impl Fact for $fact {
            const TOPIC: Topic = Topic::$topic;
        })+
    };
}

facts! {
    ClusterStatus: ClusterStatus,
    BidEngineStatus: BidEngineStatus,
    ManifestStatus: ManifestStatus,
    InventoryStatus: InventoryStatus,
    BalanceStatus: BalanceStatus,
    InventoryCluster: InventoryCluster,
    InventoryNodes: InventoryNodes,
    InventoryStorage: InventoryStorage,
    Block: ChainBlock,
    LeaseChange: Lease,
}

/// The newest block that was followed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    pub height: u64,
    /// Its time, in milliseconds since 1970.
    pub time_ms: u64,
    #[serde(default)]
    pub chain_id: String,
    /// Orders that were opened in it.
    #[serde(default)]
    pub orders_created: u64,
    /// Leases of this provider that began in it.
    #[serde(default)]
    pub leases_created: u64,
    /// Leases of this provider that ended in it.
    #[serde(default)]
    pub leases_closed: u64,
}

/// The lease of this provider that changed last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseChange {
    pub owner: String,
    pub dseq: u64,
    pub gseq: u32,
    pub oseq: u32,
    pub provider: String,
    pub state: LeaseState,
    /// Why it ended, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// First height that its escrow account does not pay; there while the account is dry and the
    /// lease still active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_at: Option<u64>,
    #[serde(default)]
    pub height: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseState {
    /// It runs and is paid.
    Active,
    /// It has ended because its escrow account ran dry.
    InsufficientFunds,
    Closed,
    /// A word from a newer version.
    #[default]
    #[serde(other)]
    Unknown,
}

/// The whole, in short. Hearing it means: look at the cluster again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InventoryCluster {
    /// Nodes that can take workloads.
    pub nodes: u64,
    /// Names of the storage classes on offer.
    #[serde(default)]
    pub storage_classes: Vec<String>,
    /// What the nodes offer in all.
    pub allocatable: Resources,
    /// What of it is asked for by what runs there.
    pub allocated: Resources,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InventoryNodes {
    /// In the order of their names.
    pub nodes: Vec<Node>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub name: String,
    /// Whether it takes workloads.
    pub ready: bool,
    pub allocatable: Resources,
    /// What of it is asked for by what runs there.
    pub allocated: Resources,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InventoryStorage {
    /// In the order of their names.
    pub classes: Vec<StorageClass>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageClass {
    /// Such as `beta3`.
    pub class: String,
    /// Bytes it can hold.
    pub allocatable: u64,
    /// Bytes promised to volumes.
    pub allocated: u64,
}
