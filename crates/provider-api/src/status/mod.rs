//! What a provider says about itself and about leases.

mod lease;
mod provider;
mod version;

pub use lease::{Detail, Exit, ForwardedPort, LeaseStatus, LeasedIp, ServiceEvent, ServiceStatus};
pub use provider::{
    AddressDocument, Amounts, Available, BidEngineStatus, ClusterStatus, InventoryStatus,
    ManifestStatus, NoInventory, NodeAmounts, NodeStatus, ProviderStatus, StorageStatus,
};
pub use version::{AkashVersion, COSMOS_SDK_VERSION, VERSION, VersionDocument};
