//! What a provider says about itself and about leases.

mod lease;
mod provider;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use lease::{
    Detail, Exit, ForwardedPort, LeaseFunds, LeaseStatus, LeasedIp, ServiceEvent, ServiceStatus,
};
pub use provider::{
    AddressDocument, Amounts, Available, BidEngineStatus, ClusterStatus, InventoryStatus,
    ManifestStatus, NoInventory, NodeAmounts, NodeStatus, ProviderStatus, StorageStatus,
};

/// Whether the provider can do its work, and if not, why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Readiness {
    /// Whether nothing is missing.
    pub ready: bool,
    /// What is missing.
    pub missing: Vec<Missing>,
}

/// Something that is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// What: `chain`, `cluster`, `engine`.
    pub what: &'static str,
    /// Why, in words.
    pub why: String,
}

impl Readiness {
    /// Ready if nothing is missing.
    pub const fn without(missing: Vec<Missing>) -> Self {
        Self { ready: missing.is_empty(), missing }
    }
}

/// The line of the Go provider that this one answers like. Console's indexer reads a provider below
/// 0.5.0 with code of another age, so this comes first and our own version behind it. Raise it with
/// the recordings that tests compare with; `docs/compatibility.md` says what it promises.
macro_rules! compatible_with {
    () => {
        "v0.16.2"
    };
}

/// What this provider says its version is: the line it is compatible with, and as build metadata,
/// which semver leaves out of comparisons, its own.
pub const VERSION: &str = concat!(compatible_with!(), "+rs.", env!("CARGO_PKG_VERSION"));

/// The Cosmos SDK of that line. Console hides the bids of a provider below 0.45.9.
pub const COSMOS_SDK_VERSION: &str = "v0.53.6";

/// Which programs run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VersionDocument {
    /// The provider.
    pub akash: AkashVersion,
    /// What the cluster says of its own version; `None` if there is none to say.
    #[serde(default)]
    pub kube: Option<Value>,
}

/// Which provider runs. Clients choose by `version` how to ask it for its status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AkashVersion {
    /// The program's name.
    pub name: String,
    /// The same.
    pub server_name: String,
    /// Its release, such as `v0.16.2`.
    pub version: String,
    /// The commit it was built from.
    pub commit: String,
    /// What it was built with.
    pub build_tags: String,
    /// The compiler. Named for the language of the first provider.
    pub go: String,
    /// What it is made of.
    pub build_deps: Option<Vec<String>>,
    /// The Cosmos SDK whose formats it speaks.
    pub cosmos_sdk_version: String,
}
