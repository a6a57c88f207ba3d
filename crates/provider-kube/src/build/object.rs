//! An object of any kind that a lease can have.

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{Namespace, Secret, Service, ServiceAccount};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::{Metadata, Resource};
use provider_crd::{Manifest, ProviderHost, ProviderLeasedIp};
use serde_json::Value;

macro_rules! objects {
    ($($(#[$doc:meta])* $kind:ident($type:ty),)+) => {
        /// An object of any kind that a lease can have.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Object {
            $($(#[$doc])* $kind(Box<$type>),)+
        }

        impl Object {
            /// The kind, as objects carry it.
            #[must_use]
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => <$type as Resource>::KIND,)+
                }
            }

            /// Name, namespace and labels.
            #[must_use]
            pub fn metadata(&self) -> &ObjectMeta {
                match self {
                    $(Self::$kind(object) => Metadata::metadata(object.as_ref()),)+
                }
            }

            /// The object as it is sent.
            ///
            /// # Errors
            ///
            /// None for what this crate builds.
            pub fn to_json(&self) -> Result<Value, serde_json::Error> {
                match self {
                    $(Self::$kind(object) => serde_json::to_value(object),)+
                }
            }
        }

        $(impl From<$type> for Object {
            fn from(object: $type) -> Self {
                Self::$kind(Box::new(object))
            }
        })+
    };
}

objects! {
    /// The lease's namespace.
    Namespace(Namespace),
    /// Who may talk to whom.
    NetworkPolicy(NetworkPolicy),
    /// Who a pod is for the API server.
    ServiceAccount(ServiceAccount),
    /// What a pod may read.
    Role(Role),
    /// Who may read it.
    RoleBinding(RoleBinding),
    /// A login to an image registry.
    Secret(Secret),
    /// A service that keeps nothing.
    Deployment(Deployment),
    /// A service with persistent volumes.
    StatefulSet(StatefulSet),
    /// A way to a service's ports.
    Service(Service),
    /// What the lease shall run.
    Manifest(Manifest),
    /// A hostname.
    ProviderHost(ProviderHost),
    /// A port at a leased address.
    ProviderLeasedIp(ProviderLeasedIp),
}
