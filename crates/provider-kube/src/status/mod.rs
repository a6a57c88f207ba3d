//! How a lease is, for its tenant, from what the cluster shows.
//!
//! Replicas are counted from pods, not from what controllers say of them: a StatefulSet counts
//! pods that never started. A reason is in plain words, and says what the tenant can act on.

mod reach;
mod service;

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::api::events::v1::Event;
use provider_crd::ProviderHost;
use provider_engine::cluster::port::{
    ClusterEvent, EventKind, LeaseStatus, ObjectRef, ServiceStatus,
};

use crate::resolve::Lease;
use crate::settings::Settings;

/// What is in a lease's namespace, and the hostnames that lead to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeaseObjects<'a> {
    /// Whether the namespace is on its way out.
    pub terminating: bool,
    pub deployments: &'a [Deployment],
    pub stateful_sets: &'a [StatefulSet],
    pub pods: &'a [Pod],
    /// Services, those of leased addresses included.
    pub services: &'a [Service],
    pub events: &'a [Event],
    pub hosts: &'a [ProviderHost],
}

/// How all services of a lease are; `None` if none of them was deployed yet.
pub fn lease(lease: &Lease, shown: &LeaseObjects<'_>, settings: &Settings) -> Option<LeaseStatus> {
    if shown.deployments.is_empty() && shown.stateful_sets.is_empty() {
        return None;
    }
    let services = lease.services.iter();
    let mut services: Vec<ServiceStatus> =
        services.map(|service| service::status(service, shown, settings)).collect();
    services.sort_by(|one, other| one.name.cmp(&other.name));
    Some(LeaseStatus { services })
}

/// The event as a tenant is told it. `services` are the names of the lease's services.
pub fn event<'a>(event: &Event, services: impl Iterator<Item = &'a str>) -> ClusterEvent {
    let regarding = event.regarding.clone().unwrap_or_default();
    let name = regarding.name.unwrap_or_default();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    ClusterEvent {
        kind: match event.type_.as_deref() {
            Some("Warning") => EventKind::Warning,
            _ => EventKind::Normal,
        },
        reason: text(&event.reason),
        note: text(&event.note),
        controller: text(&event.reporting_controller),
        instance: text(&event.reporting_instance),
        service: service_of(&name, services),
        object: ObjectRef {
            kind: regarding.kind.unwrap_or_default(),
            namespace: regarding.namespace.unwrap_or_default(),
            name,
        },
    }
}

/// The newest warning about a service, in its own words.
fn newest_warning(service: &str, shown: &LeaseObjects<'_>) -> Option<String> {
    let warnings =
        shown.events.iter().rev().filter(|event| event.type_.as_deref() == Some("Warning"));
    let about = warnings.filter(|event| {
        let name = event.regarding.as_ref().and_then(|regarding| regarding.name.as_deref());
        name.is_some_and(|name| is_of(name, service))
    });
    about.filter_map(|event| event.note.clone()).find(|note| !note.is_empty())
}

/// The service that an object is of. Everything of a service is named like it, with a dash and
/// more behind; of `web` and `web-api` the longer one counts.
fn service_of<'a>(name: &str, services: impl Iterator<Item = &'a str>) -> Option<String> {
    services.filter(|service| is_of(name, service)).max_by_key(|name| name.len()).map(str::to_owned)
}

fn is_of(name: &str, service: &str) -> bool {
    name.strip_prefix(service).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests;
