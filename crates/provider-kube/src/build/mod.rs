//! Every object of a lease, from its `Manifest`.
//!
//! One file per kind or per part of a pod. What comes out is equal, field for field, to what the Go
//! provider sends, so that a cluster of it can be taken over without touching a pod; a field that
//! differs would roll every tenant. Where the Go provider has a defect that is visible in a pod
//! template, the defect is kept, and named.
//!
//! Takes no client and no clock.

mod affinity;
mod container;
mod host;
mod object;
mod permissions;
mod policy;
mod pull_secret;
mod quantity;
mod service;
mod volumes;
mod workload;

#[cfg(test)]
mod tests;

use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use provider_crd::labels;
use provider_crd::labels::Labels;

pub use host::hosts;
pub use object::Object;
pub(crate) use policy::restrictions;
pub use service::leased_ips;

use crate::resolve::{Lease, Service};
use crate::settings::Settings;

/// Why objects cannot be built. No manifest that was validated and placed is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    #[error("service {service:?} does not say how much {what} it needs")]
    Missing { service: String, what: &'static str },
    #[error("service {service:?} wants cards, but its Manifest does not say which it was promised")]
    NoCard { service: String },
    #[error(
        "service {service:?} was promised a card of {vendor:?}, which is neither nvidia nor amd"
    )]
    Vendor { service: String, vendor: String },
    #[error("service {service:?}: {what} of {value} is more than Kubernetes can hold")]
    TooLarge { service: String, what: &'static str, value: u64 },
    #[error("service {service:?}: protocol {protocol:?} is neither TCP nor UDP")]
    Protocol { service: String, protocol: String },
}

/// Everything in the lease's namespace and the namespace itself, in the order in which it is to be
/// written: the namespace, policies before what they restrict, then service by service what a pod
/// needs, the pod's workload, and what leads to it.
///
/// When a service cannot be built. Nothing of the lease should be written then.
pub fn workload(lease: &Lease, settings: &Settings) -> Result<Vec<Object>, BuildError> {
    let mut objects = vec![Object::from(namespace(lease, settings))];
    objects.extend(policy::policies(lease, settings)?.into_iter().map(Object::from));
    for service in &lease.services {
        if let Some((account, role, binding)) = permissions::of(lease, service) {
            objects.extend([account.into(), role.into(), binding.into()]);
        }
        objects.extend(pull_secret::of(lease, service).map(Object::from));
        objects.push(workload::of(lease, service, settings)?);
        objects.extend(service::cluster_ip(lease, service)?.map(Object::from));
        objects.extend(service::node_port(lease, service)?.map(Object::from));
    }
    Ok(objects)
}

pub fn namespace(lease: &Lease, settings: &Settings) -> Namespace {
    let mut labels = labels::base(&lease.namespace, &lease.revision);
    labels.append(&mut labels::lease(&lease.id));
    Namespace {
        metadata: ObjectMeta {
            name: Some(lease.namespace.clone()),
            labels: Some(labels),
            annotations: settings.isolation.record(),
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    }
}

fn service_labels(lease: &Lease, service: &Service) -> Labels {
    labels::with_service(labels::base(&lease.namespace, &lease.revision), service.name())
}

fn service_selector(lease: &Lease, service: &Service) -> Labels {
    labels::with_service(labels::selector(&lease.namespace), service.name())
}

/// Metadata of an object in the lease's namespace.
fn metadata(lease: &Lease, name: impl Into<String>, labels: Labels) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.into()),
        namespace: Some(lease.namespace.clone()),
        labels: Some(labels),
        ..ObjectMeta::default()
    }
}
