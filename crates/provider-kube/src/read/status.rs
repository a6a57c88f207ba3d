//! How a lease is.

use akash_types::LeaseId;
use k8s_openapi::api::events::v1::Event;
use kube_access::{KubeClient, ResourceKind, Selector};
use provider_engine::cluster::port::{LeaseStatus, Missing, Phase, ReadFailure, ServiceStatus};
use provider_engine::cluster::view::Held;

use super::Look;
use super::events::in_order;
use crate::resolve::{held, version};
use crate::settings::Settings;
use crate::status::{self, LeaseObjects};
use crate::watch::{Shared, parts};

pub(crate) async fn lease(
    client: &KubeClient,
    shared: &Shared,
    settings: &Settings,
    id: LeaseId,
) -> Result<LeaseStatus, ReadFailure> {
    let look = Look::at(shared, id)?.deployed()?;
    let now = of(&look, settings, &[])?;
    if now.services.iter().all(|service| service.phase == Phase::Ready) {
        return Ok(now);
    }
    // Why something is not ready may only stand in an event. If they cannot be had, the rest is
    // still worth telling.
    let namespace = Some(look.lease.namespace.as_str());
    match client.list::<Event>(ResourceKind::EVENT, namespace, Selector::default()).await {
        Ok(listed) => of(&look, settings, &in_order(listed.items)),
        Err(_) => Ok(now),
    }
}

pub(crate) async fn service(
    client: &KubeClient,
    shared: &Shared,
    settings: &Settings,
    id: LeaseId,
    name: &str,
) -> Result<ServiceStatus, ReadFailure> {
    let status = lease(client, shared, settings, id).await?;
    let found = status.services.into_iter().find(|service| service.name == name);
    found.ok_or_else(|| ReadFailure::NotFound(Missing::Service(name.to_owned())))
}

/// The manifest that is kept for a lease.
pub(crate) fn manifest(
    shared: &Shared,
    settings: &Settings,
    id: LeaseId,
) -> Result<Held, ReadFailure> {
    let entry = Look::at(shared, id)?.entry;
    let missing = || ReadFailure::NotFound(Missing::Lease);
    let manifest = entry.manifest().ok_or_else(missing)?;
    let is_deployed = parts::is_deployed(&entry, settings);
    let (_, mut held) = held(&manifest, is_deployed).map_err(|_| missing())?;
    let namespace = entry.namespace();
    held.version = version::of(&manifest, namespace.as_ref());
    held.ignored = version::ignored(&manifest, namespace.as_ref());
    Ok(held)
}

fn of(look: &Look, settings: &Settings, events: &[Event]) -> Result<LeaseStatus, ReadFailure> {
    let entry = &look.entry;
    let pods: Vec<_> = entry.pods.values().map(|pod| (**pod).clone()).collect();
    let shown = LeaseObjects {
        terminating: entry.of(ResourceKind::NAMESPACE).any(|namespace| namespace.is_ending),
        deployments: &entry.typed(ResourceKind::DEPLOYMENT),
        stateful_sets: &entry.typed(ResourceKind::STATEFUL_SET),
        pods: &pods,
        services: &entry.typed(ResourceKind::SERVICE),
        events,
        hosts: &entry.typed(ResourceKind::HOST),
    };
    let status = status::lease(&look.lease, &shown, settings);
    status.ok_or(ReadFailure::NotFound(Missing::Workloads))
}
