//! What the watches show of one lease.

use akash_types::LeaseId;
use k8s_openapi::api::core::v1::Pod;
use provider_crd::{labels, names};
use provider_engine::cluster::port::{Missing, ReadFailure, ServiceChoice};

use crate::client::Kind;
use crate::observe::replica::has_ended;
use crate::resolve::Lease;
use crate::watch::{Drawer, Shared};

/// What is there of a lease, and what it shall run.
pub(super) struct Look {
    pub(super) lease: Lease,
    pub(super) drawer: Drawer,
}

impl Look {
    /// Looks at a lease for which a manifest is held.
    ///
    /// # Errors
    ///
    /// Not found: `Lease`. Unavailable, if what is seen may be history.
    pub(super) fn at(shared: &Shared, lease: LeaseId) -> Result<Self, ReadFailure> {
        let mirror = shared.known()?;
        let missing = || ReadFailure::NotFound(Missing::Lease);
        let drawer = mirror.drawer(&names::lease_namespace(&lease)).ok_or_else(missing)?;
        let manifest = drawer.manifest().ok_or_else(missing)?;
        let wrong =
            |error| ReadFailure::Refused(format!("the lease's Manifest is malformed: {error}"));
        Ok(Self { lease: Lease::of(&manifest).map_err(wrong)?, drawer: drawer.clone() })
    }

    /// Whether anything was deployed.
    ///
    /// # Errors
    ///
    /// Not found: `Workloads`.
    pub(super) fn deployed(self) -> Result<Self, ReadFailure> {
        let has_any = |kind| self.drawer.of(kind).next().is_some();
        if has_any(Kind::DEPLOYMENT) || has_any(Kind::STATEFUL_SET) {
            Ok(self)
        } else {
            Err(ReadFailure::NotFound(Missing::Workloads))
        }
    }

    /// Whether the lease has all services that are meant.
    ///
    /// # Errors
    ///
    /// Not found: `Service`.
    pub(super) fn has(&self, services: &ServiceChoice) -> Result<(), ReadFailure> {
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
    pub(super) fn pods(&self, service: &str) -> impl Iterator<Item = &Pod> {
        pods(&self.drawer).filter(move |(of, _)| *of == service).map(|(_, pod)| pod)
    }
}

/// A pod of a service.
#[derive(Clone, Debug)]
pub(super) struct Replica {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) service: String,
}

/// The replicas of a lease that have not ended for good, as they were last seen.
pub(super) fn replicas(shared: &Shared, namespace: &str) -> Vec<Replica> {
    let mirror = shared.mirror();
    let found = mirror.drawer(namespace).into_iter().flat_map(pods);
    let replica = |(service, pod): (&str, &Pod)| Replica {
        namespace: namespace.to_owned(),
        name: pod.metadata.name.clone().unwrap_or_default(),
        uid: pod.metadata.uid.clone().unwrap_or_default(),
        service: service.to_owned(),
    };
    found.map(replica).collect()
}

fn pods(drawer: &Drawer) -> impl Iterator<Item = (&str, &Pod)> {
    let pods = drawer.pods.values().filter(|pod| !has_ended(pod));
    pods.filter_map(|pod| {
        let service = pod.metadata.labels.as_ref()?.get(labels::SERVICE)?;
        Some((service.as_str(), &**pod))
    })
}

/// Whether anything of a lease is left; `None` if that is not known.
pub(super) fn is_there(shared: &Shared, namespace: &str) -> Option<bool> {
    let mirror = shared.known().ok()?;
    Some(mirror.drawer(namespace).is_some_and(|drawer| drawer.lease.is_some()))
}

/// Whether a lease goes on: it has a manifest, and its namespace was not told to go.
pub(super) fn goes_on(shared: &Shared, namespace: &str) -> Option<bool> {
    let mirror = shared.known().ok()?;
    let goes_on = mirror.drawer(namespace).is_some_and(|drawer| {
        let is_ending = drawer.of(Kind::NAMESPACE).any(|shown| shown.is_ending);
        drawer.of(Kind::MANIFEST).next().is_some() && !is_ending
    });
    Some(goes_on)
}
