//! Everything that the API server showed, as it was last seen.
//!
//! Plain state. Each watch puts in what it is told; who wrote something puts in what came of it, so
//! that nobody reads back what it has just written. What changed is noted by lease and by node, so
//! that a change of one pod costs work for its lease only.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Node, PersistentVolume, Pod, Service};
use k8s_openapi::api::storage::v1::StorageClass;
use kube_access::{CachedObject, ResourceKind};
use provider_crd::{Manifest, ProviderHost, ProviderLeasedIp, labels, names};
use provider_engine::cluster::recognition::ClusterUid;

use tokio::time::Instant;

use super::ceph::CephReading;
use super::namespace::NamespaceEntry;
use crate::observe::ceph::Pools;
use crate::observe::{node_ports, storage};

#[derive(Debug, Default)]
pub(crate) struct ObjectCache {
    /// Which cluster it is, if that is known.
    pub(super) uid: Option<ClusterUid>,
    pub(super) namespaces: BTreeMap<String, NamespaceEntry>,
    pub(super) nodes: BTreeMap<String, Arc<Node>>,
    /// Which pods are on which node, by namespace and name.
    pub(super) on_node: BTreeMap<String, BTreeSet<(String, String)>>,
    pub(super) volumes: BTreeMap<String, Arc<PersistentVolume>>,
    /// Names of the volumes that are on one node, by node.
    pub(super) volumes_on_node: BTreeMap<String, BTreeSet<String>>,
    pub(super) classes: BTreeMap<String, Arc<StorageClass>>,
    /// What was read of Ceph clusters, by their namespace.
    pub(super) ceph: BTreeMap<String, CephReading>,
    /// Node ports of services that are not of leases, by namespace and name of the service.
    pub(super) other_ports: BTreeMap<(String, String), BTreeSet<i32>>,
    /// Ports of nodes that services can have, if the API server named them.
    pub(super) port_range: Option<RangeInclusive<u16>>,
    /// What the provider remembers for itself.
    pub(super) memory: Option<Arc<CachedObject>>,
    /// Namespace entry of each custom resource, which may name another lease tomorrow.
    homes: BTreeMap<(ResourceKind, String), String>,
    /// The newest state that a watch told, by kind.
    latest: BTreeMap<ResourceKind, u64>,
    /// What was written here and not yet told by a watch.
    unconfirmed: BTreeSet<(ResourceKind, String, String)>,
    pub(super) dirty: Dirty,
}

/// What changed since it was last looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dirty {
    pub(crate) leases: BTreeSet<String>,
    pub(crate) nodes: BTreeSet<String>,
    /// Whether volumes or their classes did.
    pub(crate) storage: bool,
    /// Whether node ports of services that are not of leases did, or the range of node ports.
    pub(crate) ports: bool,
    /// Whether what the provider remembers did.
    pub(crate) memory: bool,
}

impl ObjectCache {
    pub(crate) fn entry(&self, namespace: &str) -> Option<&NamespaceEntry> {
        self.namespaces.get(namespace)
    }

    /// The object of this kind and name, in the entry of a lease.
    pub(crate) fn get(
        &self,
        kind: ResourceKind,
        namespace: &str,
        name: &str,
    ) -> Option<Arc<CachedObject>> {
        self.namespaces.get(namespace)?.get(kind, name).cloned()
    }

    pub(crate) fn stateful(&self) -> impl Iterator<Item = &NamespaceEntry> {
        self.namespaces
            .values()
            .filter(|entry| entry.of(ResourceKind::STATEFUL_SET).next().is_some())
    }

    /// The object that has this name in the namespace of the custom resources, whichever lease it
    /// is of.
    pub(crate) fn named(&self, kind: ResourceKind, name: &str) -> Option<Arc<CachedObject>> {
        let home = self.homes.get(&(kind, name.to_owned()))?;
        self.get(kind, home, name)
    }

    /// What the provider remembers for itself.
    pub(crate) fn memory(&self) -> Option<Arc<CachedObject>> {
        self.memory.clone()
    }

    pub(crate) fn applied(&mut self, kind: ResourceKind, shown: CachedObject) {
        self.unconfirmed.remove(&key(kind, &shown));
        self.saw(kind, &shown);
        self.put(kind, shown);
    }

    /// A watch told that an object is gone.
    pub(crate) fn deleted(&mut self, kind: ResourceKind, shown: &CachedObject) {
        self.saw(kind, shown);
        self.take(kind, shown);
    }

    /// A watch told everything that there is of a kind.
    pub(crate) fn synced(&mut self, kind: ResourceKind, all: Vec<CachedObject>) {
        let named: BTreeSet<_> = all.iter().map(|shown| key(kind, shown)).collect();
        let is_gone = |shown: &&Arc<CachedObject>| {
            let key = key(kind, shown);
            // What was written while the list was on its way is told by what follows it.
            !named.contains(&key) && !self.unconfirmed.contains(&key)
        };
        let gone: Vec<_> = match kind {
            ResourceKind::CONFIG_MAP => self.memory.iter().filter(is_gone).cloned().collect(),
            _ => {
                let there = self.namespaces.values().flat_map(|entry| entry.of(kind));
                there.filter(is_gone).cloned().collect()
            }
        };
        for shown in gone {
            self.take(kind, &shown);
        }
        for shown in all {
            self.applied(kind, shown);
        }
    }

    /// Something was written here, and this came of it.
    pub(crate) fn wrote(&mut self, kind: ResourceKind, shown: CachedObject) {
        // A watch that is further told of it already, and perhaps of its end.
        let is_told = matches!(
            (self.latest.get(&kind), shown.number()),
            (Some(latest), Some(number)) if *latest >= number
        );
        if !is_told {
            self.unconfirmed.insert(key(kind, &shown));
            self.put(kind, shown);
        }
    }

    fn saw(&mut self, kind: ResourceKind, shown: &CachedObject) {
        if let Some(number) = shown.number() {
            let latest = self.latest.entry(kind).or_default();
            *latest = number.max(*latest);
        }
    }

    fn put(&mut self, kind: ResourceKind, shown: CachedObject) {
        if kind == ResourceKind::CONFIG_MAP {
            if !self.memory.as_ref().is_some_and(|there| is_newer(there, &shown)) {
                self.memory = Some(Arc::new(shown));
                self.dirty.memory = true;
            }
            return;
        }
        let home = home(kind, &shown);
        if is_custom(kind) {
            let name = (kind, shown.name.clone());
            let before = self.homes.insert(name, home.clone());
            if let Some(before) = before.filter(|before| *before != home) {
                self.take_from(&before, kind, &shown.name);
            }
        }
        let entry = self.namespaces.entry(home.clone()).or_default();
        if entry.get(kind, &shown.name).is_some_and(|there| is_newer(there, &shown)) {
            return;
        }
        let before = entry.lease;
        entry.put(kind, Arc::new(shown));
        if entry.lease != before {
            self.recount(&home);
        }
        self.dirty.leases.insert(home);
    }

    fn take(&mut self, kind: ResourceKind, shown: &CachedObject) {
        if kind == ResourceKind::CONFIG_MAP {
            self.memory = None;
            self.dirty.memory = true;
            return;
        }
        let home = match is_custom(kind) {
            true => self.homes.get(&(kind, shown.name.clone())).cloned(),
            false => Some(home(kind, shown)),
        };
        let Some(home) = home else { return };
        let there = self.namespaces.get(&home).and_then(|entry| entry.get(kind, &shown.name));
        // One of the same name may have been written since.
        if there.is_some_and(|there| !is_newer(there, shown)) {
            self.homes.remove(&(kind, shown.name.clone()));
            self.take_from(&home, kind, &shown.name);
        }
    }

    fn take_from(&mut self, home: &str, kind: ResourceKind, name: &str) {
        let Some(entry) = self.namespaces.get_mut(home) else { return };
        let before = entry.lease;
        entry.take(kind, name);
        let (is_empty, after) = (entry.is_empty(), entry.lease);
        self.dirty.leases.insert(home.to_owned());
        if after != before {
            self.recount(home);
        }
        if is_empty {
            self.namespaces.remove(home);
        }
    }

    /// Pods of a namespace count as a lease's, or as others' no more.
    fn recount(&mut self, namespace: &str) {
        let pods = self.namespaces.get(namespace).into_iter().flat_map(|entry| entry.pods.values());
        let nodes: Vec<String> = pods.filter_map(|pod| node_of(pod)).map(str::to_owned).collect();
        self.dirty.nodes.extend(nodes);
        self.dirty.storage = true;
    }

    pub(crate) fn pod_applied(&mut self, pod: &Arc<Pod>) {
        let Some((namespace, name)) = address(pod) else { return };
        self.drop_pod(&namespace, &name);
        if let Some(node) = node_of(pod) {
            let on = self.on_node.entry(node.to_owned()).or_default();
            on.insert((namespace.clone(), name.clone()));
        }
        let entry = self.namespaces.entry(namespace.clone()).or_default();
        entry.pods.insert(name, Arc::clone(pod));
        self.pod_changed(&namespace, pod);
    }

    /// A watch told that a pod is gone.
    pub(crate) fn pod_deleted(&mut self, pod: &Pod) {
        let Some((namespace, name)) = address(pod) else { return };
        self.drop_pod(&namespace, &name);
        if self.namespaces.get(&namespace).is_some_and(NamespaceEntry::is_empty) {
            self.namespaces.remove(&namespace);
        }
    }

    pub(crate) fn pods_synced(&mut self, all: &[Arc<Pod>]) {
        let named: BTreeSet<_> = all.iter().filter_map(|pod| address(pod)).collect();
        let there = self.namespaces.values().flat_map(|entry| entry.pods.values());
        let is_gone = |pod: &&Arc<Pod>| address(pod).is_some_and(|it| !named.contains(&it));
        for pod in there.filter(is_gone).cloned().collect::<Vec<_>>() {
            self.pod_deleted(&pod);
        }
        for pod in all {
            self.pod_applied(pod);
        }
    }

    fn drop_pod(&mut self, namespace: &str, name: &str) {
        let entry = self.namespaces.get_mut(namespace);
        let Some(before) = entry.and_then(|entry| entry.pods.remove(name)) else { return };
        if let Some(node) = node_of(&before)
            && let Some(on) = self.on_node.get_mut(node)
        {
            on.remove(&(namespace.to_owned(), name.to_owned()));
        }
        self.pod_changed(namespace, &before);
    }

    fn pod_changed(&mut self, namespace: &str, pod: &Pod) {
        if self.namespaces.get(namespace).is_some_and(|entry| entry.is_replica(pod)) {
            self.dirty.leases.insert(namespace.to_owned());
        } else if let Some(node) = node_of(pod) {
            self.dirty.nodes.insert(node.to_owned());
        }
    }

    /// A watch told of a node; `None` if it is gone.
    pub(crate) fn set_node(&mut self, name: &str, node: Option<Arc<Node>>) {
        let is = node.clone();
        let was = match node {
            Some(node) => self.nodes.insert(name.to_owned(), node),
            None => self.nodes.remove(name),
        };
        // What nodes have is what some classes of storage have.
        let has = |node: Option<&Node>| {
            let node = node?;
            Some((node.metadata.labels.clone(), node.status.as_ref()?.allocatable.clone()))
        };
        self.dirty.storage |= has(was.as_deref()) != has(is.as_deref());
        self.dirty.nodes.insert(name.to_owned());
    }

    pub(crate) fn services_synced(&mut self, all: Vec<CachedObject>) {
        let (ours, others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_ours);
        self.synced(ResourceKind::SERVICE, ours);
        self.other_ports.clear();
        self.dirty.ports = true;
        for shown in &others {
            self.other_service_applied(shown);
        }
    }

    /// A watch told that a service is so. One that the provider made is an object of its lease; of
    /// all others only the ports on nodes are kept.
    pub(crate) fn service_applied(&mut self, shown: CachedObject) {
        if is_ours(&shown) {
            self.forget_ports(&shown);
            self.applied(ResourceKind::SERVICE, shown);
        } else {
            self.deleted(ResourceKind::SERVICE, &shown);
            self.other_service_applied(&shown);
        }
    }

    /// A watch told that a service is gone.
    pub(crate) fn service_deleted(&mut self, shown: &CachedObject) {
        self.forget_ports(shown);
        self.deleted(ResourceKind::SERVICE, shown);
    }

    fn other_service_applied(&mut self, shown: &CachedObject) {
        let service: Option<Service> = shown.typed(ResourceKind::SERVICE);
        let ports = node_ports::used(&service);
        let before = match ports.is_empty() {
            true => self.other_ports.remove(&place(shown)),
            false => self.other_ports.insert(place(shown), ports.clone()),
        };
        self.dirty.ports |= before.unwrap_or_default() != ports;
    }

    fn forget_ports(&mut self, shown: &CachedObject) {
        self.dirty.ports |= self.other_ports.remove(&place(shown)).is_some();
    }

    /// The API server said which ports of nodes services can have; `None` if it did not.
    pub(crate) fn set_port_range(&mut self, range: Option<RangeInclusive<u16>>) {
        self.dirty.ports |= self.port_range != range;
        self.port_range = range;
    }

    /// A watch told of a volume; `None` if it is gone.
    pub(crate) fn set_volume(&mut self, name: &str, volume: Option<Arc<PersistentVolume>>) {
        let is_on = volume.as_deref().and_then(storage::node_of).map(str::to_owned);
        let was = match volume {
            Some(volume) => self.volumes.insert(name.to_owned(), volume),
            None => self.volumes.remove(name),
        };
        if let Some(node) = was.as_deref().and_then(storage::node_of) {
            if let Some(there) = self.volumes_on_node.get_mut(node) {
                there.remove(name);
            }
            self.dirty.nodes.insert(node.to_owned());
        }
        if let Some(node) = is_on {
            self.volumes_on_node.entry(node.clone()).or_default().insert(name.to_owned());
            self.dirty.nodes.insert(node);
        }
        self.dirty.storage = true;
    }

    /// The pools of a Ceph cluster were read, or could not be. The problem, if it is a new one.
    pub(super) fn ceph_was_read(
        &mut self,
        cluster: &str,
        read: Result<Pools, String>,
        now: Instant,
    ) -> Option<String> {
        let (changed, problem) = self.ceph.entry(cluster.to_owned()).or_default().take(read, now);
        self.dirty.storage |= changed;
        problem
    }

    /// A watch told of a class of storage; `None` if it is gone.
    pub(crate) fn set_class(&mut self, name: &str, class: Option<Arc<StorageClass>>) {
        match class {
            Some(class) => self.classes.insert(name.to_owned(), class),
            None => self.classes.remove(name),
        };
        // What volumes on nodes count for depends on their class.
        self.dirty.nodes.extend(self.volumes_on_node.keys().cloned());
        self.dirty.storage = true;
    }
}

fn key(kind: ResourceKind, shown: &CachedObject) -> (ResourceKind, String, String) {
    (kind, shown.namespace.clone(), shown.name.clone())
}

fn place(shown: &CachedObject) -> (String, String) {
    (shown.namespace.clone(), shown.name.clone())
}

/// Whether the provider made an object.
fn is_ours(shown: &CachedObject) -> bool {
    shown.labels.get(labels::MANAGED).is_some_and(|value| value == labels::TRUE)
}

/// Whether an object is in the namespace of the custom resources.
fn is_custom(kind: ResourceKind) -> bool {
    kind == ResourceKind::MANIFEST || kind == ResourceKind::HOST || kind == ResourceKind::LEASED_IP
}

/// The namespace entry of an object: that of the lease that it is of.
fn home(kind: ResourceKind, shown: &CachedObject) -> String {
    let lease = match kind {
        ResourceKind::NAMESPACE => return shown.name.clone(),
        ResourceKind::MANIFEST => {
            shown.typed::<Manifest>(kind).and_then(|manifest| manifest.lease().ok())
        }
        ResourceKind::HOST => shown.typed::<ProviderHost>(kind).and_then(|host| {
            let spec = &host.spec;
            let parts = [&*spec.owner, &spec.dseq.to_string(), &spec.gseq.to_string()];
            format!("{}/{}/{}", parts.join("/"), spec.oseq, spec.provider).parse().ok()
        }),
        ResourceKind::LEASED_IP => shown
            .typed::<ProviderLeasedIp>(kind)
            .and_then(|address| address.spec.lease_id.lease().ok()),
        _ => return shown.namespace.clone(),
    };
    // What names no lease is kept where nothing else is.
    lease.map_or_else(
        || format!("{}/{}", shown.namespace, shown.name),
        |it| names::lease_namespace(&it),
    )
}

fn is_newer(there: &CachedObject, told: &CachedObject) -> bool {
    matches!((there.number(), told.number()), (Some(there), Some(told)) if there > told)
}

fn address(pod: &Pod) -> Option<(String, String)> {
    Some((pod.metadata.namespace.clone()?, pod.metadata.name.clone()?))
}

fn node_of(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref().filter(|name| !name.is_empty())
}
