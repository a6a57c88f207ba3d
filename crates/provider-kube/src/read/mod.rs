//! What tenants ask about their leases.
//!
//! Status and manifest come from what the watches show, and cost the API server nothing; logs,
//! commands and events are streams through it. Everything says *unavailable* while what is seen may
//! be history.

pub(crate) mod events;
pub(crate) mod exec;
pub(crate) mod logs;
pub(crate) mod status;

use akash_types::LeaseId;
use k8s_openapi::api::core::v1::Pod;
use kube_access::ResourceKind;
use provider_crd::{labels, names};
use provider_engine::cluster::port::{Missing, ReadFailure, ServiceChoice};

use crate::apply::of_read;
use crate::observe::replica::has_ended;
use crate::resolve::Lease;
use crate::watch::{NamespaceEntry, Shared};

/// What is there of a lease, and what it shall run.
struct Look {
    lease: Lease,
    entry: NamespaceEntry,
}

impl Look {
    /// Looks at a lease for which a manifest is held.
    ///
    /// Not found: `Lease`. Unavailable, if what is seen may be history.
    fn at(shared: &Shared, lease: LeaseId) -> Result<Self, ReadFailure> {
        let cache = shared.known().map_err(of_read)?;
        let missing = || ReadFailure::NotFound(Missing::Lease);
        let entry = cache.entry(&names::lease_namespace(&lease)).ok_or_else(missing)?;
        let manifest = entry.manifest().ok_or_else(missing)?;
        let wrong =
            |error| ReadFailure::Refused(format!("the lease's Manifest is malformed: {error}"));
        Ok(Self { lease: Lease::of(&manifest).map_err(wrong)?, entry: entry.clone() })
    }

    /// Whether anything was deployed.
    ///
    /// Not found: `Workloads`.
    fn deployed(self) -> Result<Self, ReadFailure> {
        let has_any = |kind| self.entry.of(kind).next().is_some();
        if has_any(ResourceKind::DEPLOYMENT) || has_any(ResourceKind::STATEFUL_SET) {
            Ok(self)
        } else {
            Err(ReadFailure::NotFound(Missing::Workloads))
        }
    }

    /// Whether the lease has all services that are meant.
    ///
    /// Not found: `Service`.
    fn has(&self, services: &ServiceChoice) -> Result<(), ReadFailure> {
        let ServiceChoice::Named(asked) = services else {
            return Ok(());
        };
        let is_there =
            |name: &&String| !self.lease.services.iter().any(|service| service.name() == *name);
        match asked.iter().find(is_there) {
            Some(name) => Err(ReadFailure::NotFound(Missing::Service(name.clone()))),
            None => Ok(()),
        }
    }

    /// The pods of a service that have not ended for good, in the order of their names.
    fn pods(&self, service: &str) -> impl Iterator<Item = &Pod> {
        pods(&self.entry).filter(move |(of, _)| *of == service).map(|(_, pod)| pod)
    }
}

#[derive(Clone, Debug)]
struct Replica {
    namespace: String,
    name: String,
    uid: String,
    service: String,
}

/// The replicas of a lease that have not ended for good, as they were last seen.
fn replicas(shared: &Shared, namespace: &str) -> Vec<Replica> {
    let cache = shared.cache();
    let found = cache.entry(namespace).into_iter().flat_map(pods);
    let replica = |(service, pod): (&str, &Pod)| Replica {
        namespace: namespace.to_owned(),
        name: pod.metadata.name.clone().unwrap_or_default(),
        uid: pod.metadata.uid.clone().unwrap_or_default(),
        service: service.to_owned(),
    };
    found.map(replica).collect()
}

fn pods(entry: &NamespaceEntry) -> impl Iterator<Item = (&str, &Pod)> {
    let pods = entry.pods.values().filter(|pod| !has_ended(pod));
    pods.filter_map(|pod| {
        let service = pod.metadata.labels.as_ref()?.get(labels::SERVICE)?;
        Some((service.as_str(), &**pod))
    })
}

/// Whether anything of a lease is left; `None` if that is not known.
fn is_there(shared: &Shared, namespace: &str) -> Option<bool> {
    let cache = shared.known().ok()?;
    Some(cache.entry(namespace).is_some_and(|entry| entry.lease.is_some()))
}

/// Whether a lease goes on: it has a manifest, and its namespace was not told to go.
fn goes_on(shared: &Shared, namespace: &str) -> Option<bool> {
    let cache = shared.known().ok()?;
    let goes_on = cache.entry(namespace).is_some_and(|entry| {
        let is_ending = entry.of(ResourceKind::NAMESPACE).any(|shown| shown.is_ending);
        entry.of(ResourceKind::MANIFEST).next().is_some() && !is_ending
    });
    Some(goes_on)
}
