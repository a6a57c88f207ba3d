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
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => <$type as Resource>::KIND,)+
                }
            }

            pub fn metadata(&self) -> &ObjectMeta {
                match self {
                    $(Self::$kind(object) => Metadata::metadata(object.as_ref()),)+
                }
            }

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
    Namespace(Namespace),
    NetworkPolicy(NetworkPolicy),
    /// Who a pod is for the API server.
    ServiceAccount(ServiceAccount),
    Role(Role),
    RoleBinding(RoleBinding),
    /// A login to an image registry.
    Secret(Secret),
    /// A service that keeps nothing.
    Deployment(Deployment),
    StatefulSet(StatefulSet),
    /// A way to a service's ports.
    Service(Service),
    Manifest(Manifest),
    ProviderHost(ProviderHost),
    /// A port at a leased address.
    ProviderLeasedIp(ProviderLeasedIp),
}
