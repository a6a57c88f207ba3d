//! What the operator set, as the Kubernetes driver takes it.

use std::time::Duration;

use provider_kube::settings::{IngressMode as KubeIngress, NetworkPolicies, Settings};
use provider_operators::hostname::{Routes, Settings as HostnameSettings};

use super::Config;
use super::cluster::IngressMode;

/// How long a route that was refused waits for its next try, at first.
const RETRY_DELAY: Duration = Duration::from_secs(3);

impl Config {
    /// What the hostname operator is started with; `None` if another process makes routes.
    pub fn hostname_settings(&self) -> Option<HostnameSettings> {
        let routes = match &self.ingress.mode {
            IngressMode::Ingress => Routes::Ingress { class: self.ingress.class.clone() },
            IngressMode::GatewayApi { name, namespace } => Routes::Gateway {
                name: name.clone(),
                namespace: namespace.clone(),
                buffer_size: self.ingress.proxy_buffer_size.clone(),
            },
        };
        self.kubernetes.hostname_operator.then(|| HostnameSettings {
            manifest_namespace: self.kubernetes.manifest_namespace.clone(),
            routes,
            blocked: self.engine.manifest.blocked.clone(),
            retry_delay: RETRY_DELAY,
            ..HostnameSettings::default()
        })
    }

    /// What the Kubernetes driver is started with. Where the API server is, which policies have to
    /// know, it finds out itself.
    pub fn kube_settings(&self) -> Settings {
        let kubernetes = &self.kubernetes;
        let policies = || NetworkPolicies { api_server: Vec::new() };
        Settings {
            manifest_namespace: kubernetes.manifest_namespace.clone(),
            // As it was written: it stands in every pod.
            public_hostname: self.effective.text("cluster-public-hostname").to_owned(),
            generated_hosts: self.ingress.generated_under.clone(),
            network_policies: kubernetes.network_policies.then(policies),
            overcommit: kubernetes.overcommit,
            pull_secret: kubernetes.image_pull_secret.clone(),
            ingress: match &self.ingress.mode {
                IngressMode::Ingress => KubeIngress::Ingress,
                IngressMode::GatewayApi { name, namespace } => {
                    KubeIngress::GatewayApi { name: name.clone(), namespace: namespace.clone() }
                }
            },
            // The cluster gives what it has.
            storage_classes: Vec::new(),
            storage_capacity: kubernetes.storage_capacity.clone(),
            isolation: kubernetes.isolation.clone(),
            has_mixed_architectures: false,
        }
    }
}
