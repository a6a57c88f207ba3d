//! Which kinds of objects are asked for, and where the API server keeps them.

use k8s_openapi::Resource;
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{
    ConfigMap, Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, Secret, Service,
    ServiceAccount,
};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::api::networking::v1::{Ingress, NetworkPolicy};
use k8s_openapi::api::node::v1::RuntimeClass;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use k8s_openapi::api::storage::v1::StorageClass;
use provider_crd::{Manifest, ProviderHost, ProviderLeasedIp};

/// A kind of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// Its name, as objects carry it.
    pub name: &'static str,
    /// Group and version, as objects carry them.
    pub api_version: &'static str,
    /// Its place in addresses.
    pub plural: &'static str,
}

impl Kind {
    /// The lease's namespace.
    pub const NAMESPACE: Self = Self::of::<Namespace>();
    /// Who may talk to whom.
    pub const NETWORK_POLICY: Self = Self::of::<NetworkPolicy>();
    /// Who a pod is for the API server.
    pub const SERVICE_ACCOUNT: Self = Self::of::<ServiceAccount>();
    /// What a pod may read.
    pub const ROLE: Self = Self::of::<Role>();
    /// Who may read it.
    pub const ROLE_BINDING: Self = Self::of::<RoleBinding>();
    /// A login to an image registry.
    pub const SECRET: Self = Self::of::<Secret>();
    /// A service that keeps nothing.
    pub const DEPLOYMENT: Self = Self::of::<Deployment>();
    /// A service with persistent volumes.
    pub const STATEFUL_SET: Self = Self::of::<StatefulSet>();
    /// A way to a service's ports.
    pub const SERVICE: Self = Self::of::<Service>();
    /// What a lease shall run.
    pub const MANIFEST: Self = Self::of::<Manifest>();
    /// A hostname.
    pub const HOST: Self = Self::of::<ProviderHost>();
    /// A port at a leased address.
    pub const LEASED_IP: Self = Self::of::<ProviderLeasedIp>();
    /// A claim for persistent storage.
    pub const CLAIM: Self = Self::of::<PersistentVolumeClaim>();
    /// What the provider remembers for itself.
    pub const CONFIG_MAP: Self = Self::of::<ConfigMap>();
    /// A pod.
    pub const POD: Self = Self::of::<Pod>();
    /// A machine.
    pub const NODE: Self = Self::of::<Node>();
    /// Persistent storage.
    pub const VOLUME: Self = Self::of::<PersistentVolume>();
    /// A class of it.
    pub const STORAGE_CLASS: Self = Self::of::<StorageClass>();
    /// What runs containers.
    pub const RUNTIME_CLASS: Self = Self::of::<RuntimeClass>();
    /// A way from a hostname to a service, for an ingress controller.
    pub const INGRESS: Self = Self::of::<Ingress>();
    /// The same, for a gateway.
    pub const HTTP_ROUTE: Self = Self {
        name: "HTTPRoute",
        api_version: "gateway.networking.k8s.io/v1",
        plural: "httproutes",
    };
    /// What listens for HTTP in a cluster with the Gateway API.
    pub const GATEWAY: Self =
        Self { name: "Gateway", api_version: "gateway.networking.k8s.io/v1", plural: "gateways" };
    /// Which program serves gateways.
    pub const GATEWAY_CLASS: Self = Self {
        name: "GatewayClass",
        api_version: "gateway.networking.k8s.io/v1",
        plural: "gatewayclasses",
    };
    /// Directives of nginx for the routes of NGINX Gateway Fabric.
    pub const SNIPPETS_FILTER: Self = Self {
        name: "SnippetsFilter",
        api_version: "gateway.nginx.org/v1alpha1",
        plural: "snippetsfilters",
    };
    /// Addresses of a service's pods.
    pub const ENDPOINT_SLICE: Self = Self::of::<EndpointSlice>();
    /// Which of several replicas works.
    pub const ELECTION: Self = Self::of::<Lease>();
    /// Something that happened.
    pub const EVENT: Self = Self::of::<Event>();

    /// What a custom resource looks like.
    pub const DEFINITION: Self = Self {
        name: "CustomResourceDefinition",
        api_version: "apiextensions.k8s.io/v1",
        plural: "customresourcedefinitions",
    };

    /// Every kind of object that is written for a lease.
    pub const WRITTEN: [Self; 12] = [
        Self::NAMESPACE,
        Self::NETWORK_POLICY,
        Self::SERVICE_ACCOUNT,
        Self::ROLE,
        Self::ROLE_BINDING,
        Self::SECRET,
        Self::DEPLOYMENT,
        Self::STATEFUL_SET,
        Self::SERVICE,
        Self::MANIFEST,
        Self::HOST,
        Self::LEASED_IP,
    ];

    const fn of<T: Resource>() -> Self {
        Self { name: T::KIND, api_version: T::API_VERSION, plural: T::URL_PATH_SEGMENT }
    }

    /// The kind that objects which are written for a lease call so.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::WRITTEN.into_iter().find(|kind| kind.name == name)
    }

    /// The address of all its objects, or of those in a namespace.
    #[must_use]
    pub fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.api_version.contains('/') { "apis" } else { "api" };
        let Self { api_version, plural, .. } = self;
        match namespace {
            Some(namespace) => format!("/{root}/{api_version}/namespaces/{namespace}/{plural}"),
            None => format!("/{root}/{api_version}/{plural}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_the_api_server() {
        for (kind, namespace, path) in [
            (Kind::NAMESPACE, None, "/api/v1/namespaces"),
            (Kind::SERVICE, Some("a"), "/api/v1/namespaces/a/services"),
            (Kind::DEPLOYMENT, Some("a"), "/apis/apps/v1/namespaces/a/deployments"),
            (Kind::NETWORK_POLICY, None, "/apis/networking.k8s.io/v1/networkpolicies"),
            (
                Kind::LEASED_IP,
                Some("lease"),
                "/apis/akash.network/v2beta2/namespaces/lease/providerleasedips",
            ),
        ] {
            assert_eq!(kind.path(namespace), path);
        }
    }

    #[test]
    fn kinds_are_found_by_the_name_in_an_object() {
        for kind in Kind::WRITTEN {
            assert_eq!(Kind::named(kind.name), Some(kind));
        }
        assert_eq!(Kind::named("Pod"), None);
    }
}
