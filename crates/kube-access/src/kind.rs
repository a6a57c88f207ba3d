//! Kinds of objects, and their paths at the API server.

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceKind {
    pub name: &'static str,
    pub api_version: &'static str,
    pub plural: &'static str,
}

impl ResourceKind {
    pub const NAMESPACE: Self = Self::of::<Namespace>();
    pub const NETWORK_POLICY: Self = Self::of::<NetworkPolicy>();
    pub const SERVICE_ACCOUNT: Self = Self::of::<ServiceAccount>();
    pub const ROLE: Self = Self::of::<Role>();
    pub const ROLE_BINDING: Self = Self::of::<RoleBinding>();
    pub const SECRET: Self = Self::of::<Secret>();
    pub const DEPLOYMENT: Self = Self::of::<Deployment>();
    pub const STATEFUL_SET: Self = Self::of::<StatefulSet>();
    pub const SERVICE: Self = Self::of::<Service>();
    pub const MANIFEST: Self = Self::of::<Manifest>();
    pub const HOST: Self = Self::of::<ProviderHost>();
    pub const LEASED_IP: Self = Self::of::<ProviderLeasedIp>();
    pub const CLAIM: Self = Self::of::<PersistentVolumeClaim>();
    pub const CONFIG_MAP: Self = Self::of::<ConfigMap>();
    pub const POD: Self = Self::of::<Pod>();
    pub const NODE: Self = Self::of::<Node>();
    pub const VOLUME: Self = Self::of::<PersistentVolume>();
    pub const STORAGE_CLASS: Self = Self::of::<StorageClass>();
    pub const RUNTIME_CLASS: Self = Self::of::<RuntimeClass>();
    pub const INGRESS: Self = Self::of::<Ingress>();
    pub const HTTP_ROUTE: Self = Self {
        name: "HTTPRoute",
        api_version: "gateway.networking.k8s.io/v1",
        plural: "httproutes",
    };
    pub const GATEWAY: Self =
        Self { name: "Gateway", api_version: "gateway.networking.k8s.io/v1", plural: "gateways" };
    pub const GATEWAY_CLASS: Self = Self {
        name: "GatewayClass",
        api_version: "gateway.networking.k8s.io/v1",
        plural: "gatewayclasses",
    };
    pub const SNIPPETS_FILTER: Self = Self {
        name: "SnippetsFilter",
        api_version: "gateway.nginx.org/v1alpha1",
        plural: "snippetsfilters",
    };
    pub const ENDPOINT_SLICE: Self = Self::of::<EndpointSlice>();
    pub const ELECTION: Self = Self::of::<Lease>();
    pub const EVENT: Self = Self::of::<Event>();
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
    pub fn named(name: &str) -> Option<Self> {
        Self::WRITTEN.into_iter().find(|kind| kind.name == name)
    }

    /// The address of all its objects, or of those in a namespace.
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
            (ResourceKind::NAMESPACE, None, "/api/v1/namespaces"),
            (ResourceKind::SERVICE, Some("a"), "/api/v1/namespaces/a/services"),
            (ResourceKind::DEPLOYMENT, Some("a"), "/apis/apps/v1/namespaces/a/deployments"),
            (ResourceKind::NETWORK_POLICY, None, "/apis/networking.k8s.io/v1/networkpolicies"),
            (
                ResourceKind::LEASED_IP,
                Some("lease"),
                "/apis/akash.network/v2beta2/namespaces/lease/providerleasedips",
            ),
        ] {
            assert_eq!(kind.path(namespace), path);
        }
    }

    #[test]
    fn kinds_are_found_by_the_name_in_an_object() {
        for kind in ResourceKind::WRITTEN {
            assert_eq!(ResourceKind::named(kind.name), Some(kind));
        }
        assert_eq!(ResourceKind::named("Pod"), None);
    }
}
