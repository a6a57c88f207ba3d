//! What the operator decided for the whole cluster.
//!
//! Public hostname, overcommit and pull secret stand in every pod template. A template keeps those
//! that it was written with until its tenant changes it (`merge/template.rs`): changing one of them
//! restarts no pod. The flags `deployment-runtime-class` and
//! `deployment-ingress-expose-lb-hosts` have no effect in the Go provider, and are no settings here.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use akash_types::hostname::is_dns_name;
use provider_engine::inventory::CommitLevels;

use crate::isolation::Isolation;

/// What the operator decided for the whole cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Namespace of the custom resources (`k8s-manifest-ns`). It has to exist.
    pub manifest_namespace: String,
    /// Where ports of nodes are reached (`cluster-public-hostname`).
    pub public_hostname: String,
    /// Domain of the hostnames that services get without asking; `None` if they get none
    /// (`deployment-ingress-static-hosts`, `deployment-ingress-domain`).
    pub generated_hosts: Option<String>,
    /// Who may talk to whom (`deployment-network-policies-enabled`); `None` leaves it open, and
    /// what policies are there stay.
    pub network_policies: Option<NetworkPolicies>,
    /// How much is sold more than once (`overcommit-pct-…`).
    pub overcommit: Overcommit,
    /// Secret in every lease's namespace with which images are pulled
    /// (`docker-image-pull-secrets-name`).
    pub pull_secret: Option<String>,
    /// How requests come in (`ingress-mode`, `gateway-name`, `gateway-namespace`).
    pub ingress: IngressMode,
    /// Classes of persistent storage that may be sold, `ram` and `default` included where they are.
    pub storage_classes: Vec<String>,
    /// Bytes that volumes of a class can have in all, where the operator says so
    /// (`storage-capacity`).
    pub storage_capacity: BTreeMap<String, i64>,
    /// How pods of new leases are confined. A lease keeps what it was created with; see
    /// [`isolation`](crate::isolation).
    pub isolation: Isolation,
    /// Whether nodes that workloads may run on have different architectures. Found out for each
    /// deployment, not set by the operator.
    pub has_mixed_architectures: bool,
}

impl Default for Settings {
    /// The defaults of the Go provider's flags, except that policies need to know the API server.
    fn default() -> Self {
        Self {
            manifest_namespace: "lease".to_owned(),
            public_hostname: String::new(),
            generated_hosts: None,
            network_policies: None,
            overcommit: Overcommit::default(),
            pull_secret: None,
            ingress: IngressMode::Ingress,
            storage_classes: Vec::new(),
            storage_capacity: BTreeMap::new(),
            isolation: Isolation::default(),
            has_mixed_architectures: false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkPolicies {
    /// Where the API server is, as the `kubernetes` endpoints of the cluster say.
    pub api_server: Vec<SocketAddr>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IngressMode {
    Ingress,
    GatewayApi { name: String, namespace: String },
}

/// By how many percent more is sold than there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overcommit {
    pub cpu: u64,
    pub memory: u64,
    /// Of storage that lives with the pod.
    pub storage: u64,
}

impl Overcommit {
    /// The levels by which requests are divided.
    ///
    /// Only whole hundreds count, as in the Go provider: 50 changes nothing, 100 halves. Live pods
    /// ask for what that rule says, and another one would restart them all. Who plans capacity has
    /// to use these levels too.
    pub const fn levels(self) -> CommitLevels {
        CommitLevels::from_percent(
            self.cpu / 100 * 100,
            self.memory / 100 * 100,
            self.storage / 100 * 100,
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    #[error(
        "hosts are to be generated below {domain:?}, which is no domain name: set \
         deployment-ingress-domain"
    )]
    Domain { domain: String },
    #[error(
        "network policies are on, but the endpoints default/kubernetes name no API server: set \
         deployment-network-policies-enabled to false, or give the cluster endpoints"
    )]
    NoApiServer,
    #[error("ingress mode gateway-api needs gateway-name and gateway-namespace")]
    Gateway,
}

impl Settings {
    pub fn check(&self) -> Result<(), SettingsError> {
        if let Some(domain) = self.generated_hosts.as_ref().filter(|domain| !is_dns_name(domain)) {
            return Err(SettingsError::Domain { domain: domain.clone() });
        }
        if self.network_policies.as_ref().is_some_and(|policies| policies.api_server.is_empty()) {
            return Err(SettingsError::NoApiServer);
        }
        match &self.ingress {
            IngressMode::GatewayApi { name, namespace }
                if name.is_empty() || namespace.is_empty() =>
            {
                Err(SettingsError::Gateway)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_hundreds_of_overcommit_count() {
        let levels = Overcommit { cpu: 50, memory: 25, storage: 100 }.levels();
        assert_eq!(levels, CommitLevels::from_percent(0, 0, 100));
        assert_eq!(
            Overcommit { cpu: 299, memory: 199, storage: 99 }.levels(),
            CommitLevels::from_percent(200, 100, 0)
        );
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        let usable = Settings::default();
        assert_eq!(usable.check(), Ok(()));
        for domain in ["", "-a.example", "a..b", "Example.com", "a b", &"a".repeat(64)] {
            let settings = Settings { generated_hosts: Some(domain.to_owned()), ..usable.clone() };
            let refused = SettingsError::Domain { domain: domain.to_owned() };
            assert_eq!(settings.check(), Err(refused), "{domain:?}");
        }
        for domain in ["localhost", "ingress.example.com", "a-1.b"] {
            let settings = Settings { generated_hosts: Some(domain.to_owned()), ..usable.clone() };
            assert_eq!(settings.check(), Ok(()), "{domain:?}");
        }
        let policies = Some(NetworkPolicies { api_server: Vec::new() });
        let settings = Settings { network_policies: policies, ..usable.clone() };
        assert_eq!(settings.check(), Err(SettingsError::NoApiServer));
        let ingress =
            IngressMode::GatewayApi { name: "gateway".to_owned(), namespace: String::new() };
        assert_eq!(Settings { ingress, ..usable }.check(), Err(SettingsError::Gateway));
    }
}
