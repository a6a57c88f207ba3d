//! Everything that the API server showed, as it was last seen.
//!
//! Plain state. Each watch puts in what it is told; who wrote something puts in what came of it, so
//! that nobody reads back what it has just written. What changed is noted by lease and by node, so
//! that a change of one pod costs work for its lease only.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Node, PersistentVolume, Pod};
use k8s_openapi::api::storage::v1::StorageClass;
use provider_crd::{Manifest, ProviderHost, ProviderLeasedIp, names};
use provider_engine::cluster::recognition::ClusterUid;

use super::drawer::Drawer;
use crate::client::Kind;
use crate::follow::Shown;

/// Everything that was shown.
#[derive(Debug, Default)]
pub(crate) struct Mirror {
    /// Which cluster it is, if that is known.
    pub(super) uid: Option<ClusterUid>,
    /// By namespace.
    pub(super) drawers: BTreeMap<String, Drawer>,
    /// Nodes by name.
    pub(super) nodes: BTreeMap<String, Arc<Node>>,
    /// Which pods are on which node, by namespace and name.
    pub(super) on_node: BTreeMap<String, BTreeSet<(String, String)>>,
    /// Volumes by name.
    pub(super) volumes: BTreeMap<String, Arc<PersistentVolume>>,
    /// Classes of storage by name.
    pub(super) classes: BTreeMap<String, Arc<StorageClass>>,
    /// What the provider remembers for itself.
    pub(super) memory: Option<Arc<Shown>>,
    /// In which drawer each object is that could be in another one tomorrow.
    homes: BTreeMap<(Kind, String), String>,
    /// The newest state that a watch told, by kind.
    latest: BTreeMap<Kind, u64>,
    /// What was written here and not yet told by a watch.
    unconfirmed: BTreeSet<(Kind, String, String)>,
    pub(super) dirty: Dirty,
}

/// What changed since it was last looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dirty {
    /// Namespaces of leases.
    pub(crate) leases: BTreeSet<String>,
    /// Nodes.
    pub(crate) nodes: BTreeSet<String>,
    /// Whether volumes or their classes did.
    pub(crate) storage: bool,
    /// Whether what the provider remembers did.
    pub(crate) memory: bool,
}

impl Mirror {
    /// What is there of a namespace.
    #[must_use]
    pub(crate) fn drawer(&self, namespace: &str) -> Option<&Drawer> {
        self.drawers.get(namespace)
    }

    /// The object of this kind and name, in the drawer of a lease.
    #[must_use]
    pub(crate) fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<Arc<Shown>> {
        self.drawers.get(namespace)?.get(kind, name).cloned()
    }

    /// Leases with a StatefulSet.
    pub(crate) fn stateful(&self) -> impl Iterator<Item = &Drawer> {
        self.drawers.values().filter(|drawer| drawer.of(Kind::STATEFUL_SET).next().is_some())
    }

    /// The object that has this name in the namespace of the custom resources, whichever lease it
    /// is of.
    #[must_use]
    pub(crate) fn named(&self, kind: Kind, name: &str) -> Option<Arc<Shown>> {
        let home = self.homes.get(&(kind, name.to_owned()))?;
        self.get(kind, home, name)
    }

    /// What the provider remembers for itself.
    #[must_use]
    pub(crate) fn memory(&self) -> Option<Arc<Shown>> {
        self.memory.clone()
    }

    /// A watch told that an object is so.
    pub(crate) fn told(&mut self, kind: Kind, shown: Shown) {
        self.unconfirmed.remove(&key(kind, &shown));
        self.saw(kind, &shown);
        self.put(kind, shown);
    }

    /// A watch told that an object is gone.
    pub(crate) fn told_gone(&mut self, kind: Kind, shown: &Shown) {
        self.saw(kind, shown);
        self.take(kind, shown);
    }

    /// A watch told everything that there is of a kind.
    pub(crate) fn told_all(&mut self, kind: Kind, all: Vec<Shown>) {
        let named: BTreeSet<_> = all.iter().map(|shown| key(kind, shown)).collect();
        let is_gone = |shown: &&Arc<Shown>| {
            let key = key(kind, shown);
            // What was written while the list was on its way is told by what follows it.
            !named.contains(&key) && !self.unconfirmed.contains(&key)
        };
        let gone: Vec<_> = match kind {
            Kind::CONFIG_MAP => self.memory.iter().filter(is_gone).cloned().collect(),
            _ => {
                let there = self.drawers.values().flat_map(|drawer| drawer.of(kind));
                there.filter(is_gone).cloned().collect()
            }
        };
        for shown in gone {
            self.take(kind, &shown);
        }
        for shown in all {
            self.told(kind, shown);
        }
    }

    /// Something was written here, and this came of it.
    pub(crate) fn wrote(&mut self, kind: Kind, shown: Shown) {
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

    fn saw(&mut self, kind: Kind, shown: &Shown) {
        if let Some(number) = shown.number() {
            let latest = self.latest.entry(kind).or_default();
            *latest = number.max(*latest);
        }
    }

    fn put(&mut self, kind: Kind, shown: Shown) {
        if kind == Kind::CONFIG_MAP {
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
        let drawer = self.drawers.entry(home.clone()).or_default();
        if drawer.get(kind, &shown.name).is_some_and(|there| is_newer(there, &shown)) {
            return;
        }
        let before = drawer.lease;
        drawer.put(kind, Arc::new(shown));
        if drawer.lease != before {
            self.recount(&home);
        }
        self.dirty.leases.insert(home);
    }

    fn take(&mut self, kind: Kind, shown: &Shown) {
        if kind == Kind::CONFIG_MAP {
            self.memory = None;
            self.dirty.memory = true;
            return;
        }
        let home = match is_custom(kind) {
            true => self.homes.get(&(kind, shown.name.clone())).cloned(),
            false => Some(home(kind, shown)),
        };
        let Some(home) = home else { return };
        let there = self.drawers.get(&home).and_then(|drawer| drawer.get(kind, &shown.name));
        // One of the same name may have been written since.
        if there.is_some_and(|there| !is_newer(there, shown)) {
            self.homes.remove(&(kind, shown.name.clone()));
            self.take_from(&home, kind, &shown.name);
        }
    }

    fn take_from(&mut self, home: &str, kind: Kind, name: &str) {
        let Some(drawer) = self.drawers.get_mut(home) else { return };
        let before = drawer.lease;
        drawer.take(kind, name);
        let (is_empty, after) = (drawer.is_empty(), drawer.lease);
        self.dirty.leases.insert(home.to_owned());
        if after != before {
            self.recount(home);
        }
        if is_empty {
            self.drawers.remove(home);
        }
    }

    /// Pods of a namespace count as a lease's, or as others' no more.
    fn recount(&mut self, namespace: &str) {
        let pods = self.drawers.get(namespace).into_iter().flat_map(|drawer| drawer.pods.values());
        let nodes: Vec<String> = pods.filter_map(|pod| node_of(pod)).map(str::to_owned).collect();
        self.dirty.nodes.extend(nodes);
        self.dirty.storage = true;
    }

    /// A watch told that a pod is so.
    pub(crate) fn told_pod(&mut self, pod: &Arc<Pod>) {
        let Some((namespace, name)) = address(pod) else { return };
        self.drop_pod(&namespace, &name);
        if let Some(node) = node_of(pod) {
            let on = self.on_node.entry(node.to_owned()).or_default();
            on.insert((namespace.clone(), name.clone()));
        }
        let drawer = self.drawers.entry(namespace.clone()).or_default();
        drawer.pods.insert(name, Arc::clone(pod));
        self.pod_changed(&namespace, pod);
    }

    /// A watch told that a pod is gone.
    pub(crate) fn told_pod_gone(&mut self, pod: &Pod) {
        let Some((namespace, name)) = address(pod) else { return };
        self.drop_pod(&namespace, &name);
        if self.drawers.get(&namespace).is_some_and(Drawer::is_empty) {
            self.drawers.remove(&namespace);
        }
    }

    /// A watch told all pods.
    pub(crate) fn told_all_pods(&mut self, all: &[Arc<Pod>]) {
        let named: BTreeSet<_> = all.iter().filter_map(|pod| address(pod)).collect();
        let there = self.drawers.values().flat_map(|drawer| drawer.pods.values());
        let is_gone = |pod: &&Arc<Pod>| address(pod).is_some_and(|it| !named.contains(&it));
        for pod in there.filter(is_gone).cloned().collect::<Vec<_>>() {
            self.told_pod_gone(&pod);
        }
        for pod in all {
            self.told_pod(pod);
        }
    }

    fn drop_pod(&mut self, namespace: &str, name: &str) {
        let drawer = self.drawers.get_mut(namespace);
        let Some(before) = drawer.and_then(|drawer| drawer.pods.remove(name)) else { return };
        if let Some(node) = node_of(&before)
            && let Some(on) = self.on_node.get_mut(node)
        {
            on.remove(&(namespace.to_owned(), name.to_owned()));
        }
        self.pod_changed(namespace, &before);
    }

    fn pod_changed(&mut self, namespace: &str, pod: &Pod) {
        if self.drawers.get(namespace).is_some_and(|drawer| drawer.is_replica(pod)) {
            self.dirty.leases.insert(namespace.to_owned());
        } else if let Some(node) = node_of(pod) {
            self.dirty.nodes.insert(node.to_owned());
        }
    }

    /// A watch told of a node; `None` if it is gone.
    pub(crate) fn told_node(&mut self, name: &str, node: Option<Arc<Node>>) {
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

    /// A watch told of a volume; `None` if it is gone.
    pub(crate) fn told_volume(&mut self, name: &str, volume: Option<Arc<PersistentVolume>>) {
        match volume {
            Some(volume) => self.volumes.insert(name.to_owned(), volume),
            None => self.volumes.remove(name),
        };
        self.dirty.storage = true;
    }

    /// A watch told of a class of storage; `None` if it is gone.
    pub(crate) fn told_class(&mut self, name: &str, class: Option<Arc<StorageClass>>) {
        match class {
            Some(class) => self.classes.insert(name.to_owned(), class),
            None => self.classes.remove(name),
        };
        self.dirty.storage = true;
    }
}

fn key(kind: Kind, shown: &Shown) -> (Kind, String, String) {
    (kind, shown.namespace.clone(), shown.name.clone())
}

/// Whether an object is in the namespace of the custom resources.
fn is_custom(kind: Kind) -> bool {
    kind == Kind::MANIFEST || kind == Kind::HOST || kind == Kind::LEASED_IP
}

/// The drawer of an object: the namespace of the lease that it is of.
fn home(kind: Kind, shown: &Shown) -> String {
    let lease = match kind {
        Kind::NAMESPACE => return shown.name.clone(),
        Kind::MANIFEST => shown.typed::<Manifest>(kind).and_then(|manifest| manifest.lease().ok()),
        Kind::HOST => shown.typed::<ProviderHost>(kind).and_then(|host| {
            let spec = &host.spec;
            let parts = [&*spec.owner, &spec.dseq.to_string(), &spec.gseq.to_string()];
            format!("{}/{}/{}", parts.join("/"), spec.oseq, spec.provider).parse().ok()
        }),
        Kind::LEASED_IP => shown
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

/// Whether what is there is newer than what is told of it.
fn is_newer(there: &Shown, told: &Shown) -> bool {
    matches!((there.number(), told.number()), (Some(there), Some(told)) if there > told)
}

fn address(pod: &Pod) -> Option<(String, String)> {
    Some((pod.metadata.namespace.clone()?, pod.metadata.name.clone()?))
}

fn node_of(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref().filter(|name| !name.is_empty())
}
