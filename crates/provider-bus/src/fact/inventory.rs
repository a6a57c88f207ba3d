//! The cluster as the inventory operator sees it. It may run as a process of its own.

use serde::{Deserialize, Serialize};

use super::Resources;

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

/// Every node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InventoryNodes {
    /// In the order of their names.
    pub nodes: Vec<Node>,
}

/// One node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its name in the cluster.
    pub name: String,
    /// Whether it takes workloads.
    pub ready: bool,
    /// What it offers.
    pub allocatable: Resources,
    /// What of it is asked for by what runs there.
    pub allocated: Resources,
}

/// Every storage class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InventoryStorage {
    /// In the order of their names.
    pub classes: Vec<StorageClass>,
}

/// One storage class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageClass {
    /// Such as `beta3`.
    pub class: String,
    /// Bytes it can hold.
    pub allocatable: u64,
    /// Bytes promised to volumes.
    pub allocated: u64,
}
