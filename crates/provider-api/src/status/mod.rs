//! What a provider says about itself and about leases.

mod lease;
mod provider;
mod readiness;
mod version;

pub use lease::{
    Detail, Exit, ForwardedPort, LeaseFunds, LeaseStatus, LeasedIp, ServiceEvent, ServiceStatus,
};
pub use provider::{
    AddressDocument, Amounts, Available, BidEngineStatus, ClusterStatus, InventoryStatus,
    ManifestStatus, NoInventory, NodeAmounts, NodeStatus, ProviderStatus, StorageStatus,
};
pub use readiness::{Missing, Readiness};
pub use version::{AkashVersion, COSMOS_SDK_VERSION, VERSION, VersionDocument};
