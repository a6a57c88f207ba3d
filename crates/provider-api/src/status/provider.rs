//! How a provider is, for `GET /status`. CPU is in thousandths, memory and storage in bytes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How a provider is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderStatus {
    /// What runs and what there is room for.
    pub cluster: ClusterStatus,
    /// What is bid on.
    pub bidengine: BidEngineStatus,
    /// What manifests are kept.
    pub manifest: ManifestStatus,
    /// The name by which the provider is reached; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cluster_public_hostname: String,
    /// How long a tenant is warned before machines are taken back, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reclamation_window: Option<u64>,
    /// Whose provider it is.
    pub address: String,
}

/// What runs and what there is room for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterStatus {
    /// How many leases.
    pub leases: usize,
    /// What there is.
    pub inventory: InventoryStatus,
}

/// What there is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InventoryStatus {
    /// What is kept and used, an entry for each lease.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active: Vec<Amounts>,
    /// What is kept and not used yet, an entry for each order or lease.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<Amounts>,
    /// What the machines have.
    pub available: Available,
    /// There while nothing is known of the machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<NoInventory>,
}

/// Nothing is known of the machines yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoInventory {}

/// What the machines have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Available {
    /// Each machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeStatus>,
    /// Persistent storage of each class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub storage: Vec<StorageStatus>,
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStatus {
    /// Its name.
    pub name: String,
    /// What it has in all.
    pub allocatable: NodeAmounts,
    /// What is left of it.
    pub available: NodeAmounts,
}

/// Amounts of what a machine has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeAmounts {
    /// CPU, in thousandths.
    pub cpu: u64,
    /// Cards.
    pub gpu: u64,
    /// Memory, in bytes.
    pub memory: u64,
    /// Storage that lives with the pod, in bytes.
    pub storage_ephemeral: u64,
}

/// What is kept for an order or lease.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amounts {
    /// Of machines.
    #[serde(flatten)]
    pub node: NodeAmounts,
    /// Persistent storage by class, in bytes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub storage: BTreeMap<String, u64>,
}

/// Persistent storage of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageStatus {
    /// Which.
    pub class: String,
    /// Bytes that are left.
    pub size: u64,
}

/// What is bid on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BidEngineStatus {
    /// How many orders are looked after.
    pub orders: usize,
}

/// What manifests are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestStatus {
    /// For how many deployments.
    pub deployments: usize,
}

/// Whose provider it is, for `GET /address`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressDocument {
    /// Its address.
    pub address: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_written_as_the_contract_has_it() {
        let text = concat!(
            r#"{"cluster":{"leases":2,"inventory":{"#,
            r#""active":[{"cpu":1000,"gpu":1,"memory":2147483648,"storage_ephemeral":1073741824,"#,
            r#""storage":{"beta3":10737418240}}],"#,
            r#""pending":[{"cpu":500,"gpu":0,"memory":536870912,"storage_ephemeral":536870912}],"#,
            r#""available":{"nodes":[{"name":"node1","#,
            r#""allocatable":{"cpu":31850,"gpu":2,"memory":134000000000,"storage_ephemeral":900000000000},"#,
            r#""available":{"cpu":29850,"gpu":1,"memory":120000000000,"storage_ephemeral":880000000000}}],"#,
            r#""storage":[{"class":"beta3","size":1099511627776}]}}},"#,
            r#""bidengine":{"orders":1},"manifest":{"deployments":2},"#,
            r#""cluster_public_hostname":"provider.example.com","#,
            r#""reclamation_window":86400000000000,"address":"akash1x"}"#,
        );
        let read: ProviderStatus = serde_json::from_str(text).unwrap();
        assert_eq!(String::from_utf8(crate::json::to_vec(&read).unwrap()).unwrap(), text);
    }

    #[test]
    fn without_an_inventory_there_is_an_empty_error() {
        let status = InventoryStatus { error: Some(NoInventory {}), ..InventoryStatus::default() };
        let json = serde_json::to_string(&status).unwrap();
        assert_eq!(json, r#"{"available":{},"error":{}}"#);
    }
}
