//! From what the API server shows to the engine's view.
//!
//! ```text
//! Node ──────────────┐
//! Pod ── asks ───────┤
//! PersistentVolume ──┼──▶ ClusterView
//! StorageClass ──────┤
//! Manifest, hosts … ─┘
//! ```
//!
//! Usage is what the scheduler counts, because it decides whether a pod finds its place: what pods
//! ask for, not what they use. A pod counts once, by its UID, and not at all once it has ended.
//! Pods of leases are replicas of the lease; all others are the node's `others`.
//!
//! Everything is computed anew from what is shown; nothing is added to or subtracted from.

mod asks;
mod cards;
pub(crate) mod ceph;
mod leases;
pub(crate) mod node;
pub(crate) mod node_ports;
mod quantity;
pub(crate) mod replica;
pub(crate) mod rollout;
pub(crate) mod storage;
mod written;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use akash_types::LeaseId;
use k8s_openapi::api::core::v1::{
    Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, Service,
};
use k8s_openapi::api::storage::v1::StorageClass;
use provider_crd::{Manifest, ProviderHost, ProviderLeasedIp, names};
use provider_engine::cluster::view::{ClusterView, IpPool, PortPool, SharedDisks, StoragePlace};

use crate::settings::Settings;

pub(crate) use leases::labelled;
pub use quantity::{milli, whole};
pub use replica::condition;
pub use written::{carry_revision, is_written};

/// Everything that the API server showed, each list complete.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen<'a> {
    pub nodes: &'a [Node],
    pub pods: &'a [Pod],
    pub namespaces: &'a [Namespace],
    pub classes: &'a [StorageClass],
    pub volumes: &'a [PersistentVolume],
    pub claims: &'a [PersistentVolumeClaim],
    pub manifests: &'a [Manifest],
    pub hosts: &'a [ProviderHost],
    pub leased_ips: &'a [ProviderLeasedIp],
    pub services: &'a [Service],
}

/// What no object says, from whoever knows.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// What volumes of a class can have in all. A class that is not named here has nothing to sell.
    pub capacity: BTreeMap<String, Capacity>,
    /// Why the capacity of a class is not known.
    pub without_capacity: BTreeMap<String, String>,
    /// Leases of which everything was written; see [`is_written`].
    pub deployed: BTreeSet<LeaseId>,
    /// Addresses that can be leased; `None` if nobody hands any out.
    pub ips: Option<IpPool>,
    /// Ports that can be opened on nodes; `None` for no limit.
    pub ports: Option<PortPool>,
    /// Whether the provider is in maintenance.
    pub maintenance: bool,
}

/// What volumes of a class can have in all, and where from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    pub bytes: i64,
    pub place: StoragePlace,
    /// Disks that the class has in common with others.
    pub disks: Option<SharedDisks>,
}

/// The engine's view of what was seen.
#[must_use]
pub fn view(seen: &Seen<'_>, known: &Known, settings: &Settings) -> ClusterView {
    let leases = lease_namespaces(seen);
    let pods = once(seen.pods);
    let local = known.capacity.iter().filter(|(_, it)| it.place == StoragePlace::NodeDisk);
    let local: Vec<&str> = local.map(|(class, _)| class.as_str()).collect();
    ClusterView {
        uid: None,
        nodes: node::nodes(seen, &pods, &leases, &local),
        storage: storage::classes(seen, known, settings, &leases),
        ips: known.ips,
        ports: known.ports,
        leases: leases::views(seen, known, &pods, &leases),
        maintenance: known.maintenance,
    }
}

/// Namespaces of leases. One without a `Manifest` is told by its labels, so that what is left of a
/// lease is not taken for somebody else's.
fn lease_namespaces(seen: &Seen<'_>) -> BTreeMap<String, LeaseId> {
    let held = seen.manifests.iter().filter_map(|manifest| manifest.lease().ok());
    let labelled = seen.namespaces.iter().filter_map(leases::labelled);
    let leases = held.chain(labelled).map(|lease| (names::lease_namespace(&lease), lease));
    leases.collect()
}

/// Each pod once, also if it was listed twice while it changed.
fn once(pods: &[Pod]) -> Vec<&Pod> {
    let mut seen = BTreeSet::new();
    pods.iter()
        .filter(|pod| pod.metadata.uid.as_ref().is_none_or(|uid| seen.insert(uid.clone())))
        .collect()
}
