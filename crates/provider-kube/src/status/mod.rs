//! How a lease is, for its tenant, from what the cluster shows.
//!
//! Replicas are counted from pods, not from what controllers say of them: a StatefulSet counts
//! pods that never started. A reason is in plain words, and says what the tenant can act on.

mod event;
mod reach;
mod service;

#[cfg(test)]
mod tests;

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::api::events::v1::Event;
use provider_crd::ProviderHost;
use provider_engine::cluster::port::{LeaseStatus, ServiceStatus};

use crate::resolve::Lease;
use crate::settings::Settings;

pub use event::event;

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
    /// Events, oldest first.
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
