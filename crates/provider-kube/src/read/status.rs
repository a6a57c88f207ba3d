//! How a lease is.

use akash_types::LeaseId;
use k8s_openapi::api::events::v1::Event;
use provider_engine::cluster::port::{LeaseStatus, Missing, Phase, ReadFailure, ServiceStatus};
use provider_engine::cluster::view::Held;

use super::events::in_order;
use super::look::Look;
use crate::client::{Calls, Kind, Selector};
use crate::resolve::{held, version};
use crate::settings::Settings;
use crate::status::{self, Shown};
use crate::watch::{Shared, pieces};

/// How all services of a lease are.
pub(crate) async fn lease(
    calls: &Calls,
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
    match calls.list::<Event>(Kind::EVENT, namespace, Selector::default()).await {
        Ok(listed) => of(&look, settings, &in_order(listed.items)),
        Err(_) => Ok(now),
    }
}

/// How one service of a lease is.
pub(crate) async fn service(
    calls: &Calls,
    shared: &Shared,
    settings: &Settings,
    id: LeaseId,
    name: &str,
) -> Result<ServiceStatus, ReadFailure> {
    let status = lease(calls, shared, settings, id).await?;
    let found = status.services.into_iter().find(|service| service.name == name);
    found.ok_or_else(|| ReadFailure::NotFound(Missing::Service(name.to_owned())))
}

/// The manifest that is kept for a lease.
pub(crate) fn manifest(
    shared: &Shared,
    settings: &Settings,
    id: LeaseId,
) -> Result<Held, ReadFailure> {
    let drawer = Look::at(shared, id)?.drawer;
    let missing = || ReadFailure::NotFound(Missing::Lease);
    let manifest = drawer.manifest().ok_or_else(missing)?;
    let is_deployed = pieces::is_deployed(&drawer, settings);
    let (_, mut held) = held(&manifest, is_deployed).map_err(|_| missing())?;
    let namespace = drawer.namespace();
    held.version = version::of(&manifest, namespace.as_ref());
    held.ignored = version::ignored(&manifest, namespace.as_ref());
    Ok(held)
}

fn of(look: &Look, settings: &Settings, events: &[Event]) -> Result<LeaseStatus, ReadFailure> {
    let drawer = &look.drawer;
    let pods: Vec<_> = drawer.pods.values().map(|pod| (**pod).clone()).collect();
    let shown = Shown {
        terminating: drawer.of(Kind::NAMESPACE).any(|namespace| namespace.is_ending),
        deployments: &drawer.typed(Kind::DEPLOYMENT),
        stateful_sets: &drawer.typed(Kind::STATEFUL_SET),
        pods: &pods,
        services: &drawer.typed(Kind::SERVICE),
        events,
        hosts: &drawer.typed(Kind::HOST),
    };
    let status = status::lease(&look.lease, &shown, settings);
    status.ok_or(ReadFailure::NotFound(Missing::Workloads))
}
