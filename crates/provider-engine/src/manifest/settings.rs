//! What the operator sets about manifests.

use std::time::Duration;

use akash_types::hostname::BlockedHostnames;

/// What the operator sets about manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestSettings {
    /// Domain under which services get a host without asking; `None` if they do not, and then
    /// every service that is reached by name has to list one.
    pub generated_under: Option<String>,
    /// Names that tenants may not have.
    pub blocked: BlockedHostnames,
    /// How long a request may take.
    pub submit_timeout: Duration,
    /// How old chain data may be for a manifest to be accepted by it.
    pub cached_result_max_age: Duration,
}

impl Default for ManifestSettings {
    fn default() -> Self {
        Self {
            generated_under: None,
            blocked: BlockedHostnames::default(),
            submit_timeout: Duration::from_secs(120),
            cached_result_max_age: Duration::from_secs(5),
        }
    }
}
