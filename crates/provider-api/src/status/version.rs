//! Which program runs, for `GET /version`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
