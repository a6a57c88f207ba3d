//! Reading how a lease is and what happened to it.

use std::future::Future;

use akash_types::LeaseId;

use super::ReadFailure;
use super::status::{LeaseStatus, ServiceStatus};
use crate::cluster::view::Held;

/// Reads what tenants ask about their leases.
pub trait Inspect: Send + Sync {
    /// What [`Inspect::events`] gives.
    type Events: EventStream + 'static;

    /// How all services of a lease are.
    /// Not found: `Lease`, or `Workloads` while it was not deployed yet.
    fn status(
        &self,
        lease: LeaseId,
    ) -> impl Future<Output = Result<LeaseStatus, ReadFailure>> + Send;

    /// How one service of a lease is.
    /// As [`Inspect::status`], and not found: `Service`.
    fn service(
        &self,
        lease: LeaseId,
        service: &str,
    ) -> impl Future<Output = Result<ServiceStatus, ReadFailure>> + Send;

    /// The manifest that the cluster keeps for a lease.
    /// Not found: `Lease`.
    fn manifest(&self, lease: LeaseId) -> impl Future<Output = Result<Held, ReadFailure>> + Send;

    /// What happened to a lease, as far as the cluster still knows.
    /// Not found: `Lease`, `Service`.
    fn events(
        &self,
        lease: LeaseId,
        query: EventQuery,
    ) -> impl Future<Output = Result<Self::Events, ReadFailure>> + Send;
}

/// Which services of a lease are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ServiceChoice {
    /// All.
    #[default]
    All,
    /// These; each has to exist.
    Named(Vec<String>),
}

impl ServiceChoice {
    /// Whether `service` is meant.
    pub fn includes(&self, service: &str) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.iter().any(|name| name == service),
        }
    }
}

/// Which events are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// Of which services. Those of the lease as a whole come only with all services.
    pub services: ServiceChoice,
    /// Whether to go on with what happens from now on.
    pub follow: bool,
}

/// Events, in order.
pub trait EventStream: Send {
    /// The next event; `None` when there is none any more and nothing is to be followed.
    /// Fails when it breaks off; not found, if the lease is gone.
    fn next(&mut self) -> impl Future<Output = Result<Option<ClusterEvent>, ReadFailure>> + Send;
}

/// Something that happened, with the fields that clients know from Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterEvent {
    /// Whether it is one of those to worry about.
    pub kind: EventKind,
    /// One word, such as `Pulled`.
    pub reason: String,
    /// What happened, in words.
    pub note: String,
    /// The part of the cluster that says so; may be empty.
    pub controller: String,
    /// Which of them, such as a node; may be empty.
    pub instance: String,
    /// What it happened to.
    pub object: ObjectRef,
    /// The service it happened to, if it is about one.
    pub service: Option<String>,
}

/// Whether an event is one to worry about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The usual.
    Normal,
    /// Something is wrong.
    Warning,
}

impl EventKind {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

/// A thing of a cluster, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRef {
    /// Its kind, such as `Pod`.
    pub kind: String,
    /// Where its name counts.
    pub namespace: String,
    /// Its name.
    pub name: String,
}
