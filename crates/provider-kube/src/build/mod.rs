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
mod object;
mod policy;
mod pull_secret;
mod quantity;
mod service;
mod workload;

use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::{PolicyRule, Role, RoleBinding, RoleRef, Subject};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use provider_crd::labels;
use provider_crd::labels::Labels;

use crate::resolve::{Lease, Service};
use crate::settings::Settings;

pub use object::Object;
pub(crate) use policy::restrictions;
pub use service::{hosts, leased_ips};

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
        if let Some((account, role, binding)) = of(lease, service) {
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

const READ: [&str; 3] = ["get", "list", "watch"];
const RBAC: &str = "rbac.authorization.k8s.io";

/// Account, role and binding of a service that was given permissions, all named like it.
fn of(lease: &Lease, service: &Service) -> Option<(ServiceAccount, Role, RoleBinding)> {
    if service.permissions().is_empty() {
        return None;
    }
    let mut all = service_labels(lease, service);
    all.append(&mut labels::lease(&lease.id));
    let metadata = || metadata(lease, service.name(), all.clone());
    let account = ServiceAccount { metadata: metadata(), ..ServiceAccount::default() };
    let rules = rules(service.permissions());
    let role = Role { metadata: metadata(), rules: (!rules.is_empty()).then_some(rules) };
    let binding = RoleBinding {
        metadata: metadata(),
        role_ref: RoleRef {
            api_group: Some(RBAC.to_owned()),
            kind: "Role".to_owned(),
            name: service.name().to_owned(),
        },
        subjects: Some(vec![Subject {
            kind: "ServiceAccount".to_owned(),
            name: service.name().to_owned(),
            namespace: Some(lease.namespace.clone()),
            api_group: None,
        }]),
    };
    Some((account, role, binding))
}

/// Rules in the order in which permissions were first named. Names that are not known give none.
fn rules(permissions: &[String]) -> Vec<PolicyRule> {
    let mut rules = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for permission in permissions {
        if seen.contains(&permission.as_str()) {
            continue;
        }
        seen.push(permission);
        match permission.as_str() {
            "logs" => rules.extend([
                rule("", "pods", &READ),
                rule("", "pods/log", &["get"]),
                rule("apps", "deployments", &READ),
            ]),
            "events" => rules.push(rule("", "events", &READ)),
            _ => {}
        }
    }
    rules
}

fn rule(group: &str, resource: &str, verbs: &[&str]) -> PolicyRule {
    PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(vec![resource.to_owned()]),
        verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
        ..PolicyRule::default()
    }
}

#[cfg(test)]
mod tests;
