//! The task that owns the view: looks at what changed, and tells.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use provider_engine::cluster::view::{ClusterView, Name, ViewChange};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::Instant;

use super::cache::{Dirty, ObjectCache};
use super::parts;
use super::shared::Shared;
use crate::settings::Settings;

/// How long changes are gathered before they are looked at.
const GATHER: Duration = Duration::from_millis(20);

/// Somebody wants to watch: the first change, and where the next ones come from.
pub(super) type Ask = oneshot::Sender<(ViewChange, broadcast::Receiver<ViewChange>)>;

pub(super) struct Owner {
    shared: Arc<Shared>,
    settings: Arc<Settings>,
    changes: broadcast::Sender<ViewChange>,
    /// What was told last; `None` while it is not known how things are.
    told: Option<ClusterView>,
    /// Leases whose namespace had something to tell, so that its end can be told.
    namespaces: std::collections::BTreeMap<String, akash_types::LeaseId>,
}

impl Owner {
    pub(super) fn new(
        shared: Arc<Shared>,
        settings: Arc<Settings>,
        changes: broadcast::Sender<ViewChange>,
    ) -> Self {
        Self { shared, settings, changes, told: None, namespaces: [].into() }
    }

    /// Runs until nobody can ask any more.
    pub(super) async fn run(mut self, mut asks: mpsc::Receiver<Ask>) {
        loop {
            let due = self.shared.health().due();
            let wait = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                ask = asks.recv() => {
                    let Some(ask) = ask else { return };
                    self.look();
                    let first = match &self.told {
                        Some(view) => ViewChange::Whole(Box::new(view.clone())),
                        None => ViewChange::Lost,
                    };
                    let _ = ask.send((first, self.changes.subscribe()));
                }
                () = self.shared.changed.notified() => {
                    tokio::time::sleep(GATHER).await;
                    self.look();
                }
                () = wait => self.look(),
            }
        }
    }

    /// Tells what changed since the last look.
    fn look(&mut self) {
        let unknown = self.shared.health().unknown(Instant::now());
        let dirty = self.shared.change_quietly(|cache| std::mem::take(&mut cache.dirty));
        let shared = Arc::clone(&self.shared);
        let cache = shared.cache();
        let changes = match (unknown, self.told.take()) {
            (Some(_), None) => Vec::new(),
            (Some(why), Some(_)) => {
                tracing::warn!(why, "what is in the cluster is not known");
                vec![ViewChange::Lost]
            }
            (None, None) => {
                let whole = parts::whole(&cache, &self.settings);
                let leases = whole.leases.keys();
                self.namespaces =
                    leases.map(|it| (provider_crd::names::lease_namespace(it), *it)).collect();
                self.told = Some(whole.clone());
                vec![ViewChange::Whole(Box::new(whole))]
            }
            (None, Some(mut told)) => {
                let changes = self.changed(&cache, &dirty, &mut told);
                self.told = Some(told);
                changes
            }
        };
        drop(cache);
        for change in changes {
            // Nobody may watch.
            let _ = self.changes.send(change);
        }
        self.shared.turned();
    }

    /// What is different from what was told.
    fn changed(
        &mut self,
        cache: &ObjectCache,
        dirty: &Dirty,
        told: &mut ClusterView,
    ) -> Vec<ViewChange> {
        let mut changes = Vec::new();
        for namespace in &dirty.leases {
            match parts::lease(cache, namespace, &self.settings) {
                Some((id, view)) => {
                    self.namespaces.insert(namespace.clone(), id);
                    if told.leases.get(&id) != Some(&view) {
                        told.leases.insert(id, view.clone());
                        changes.push(ViewChange::Lease(Box::new(view)));
                    }
                }
                None => {
                    let gone = self.namespaces.remove(namespace);
                    if let Some(id) = gone.filter(|id| told.leases.remove(id).is_some()) {
                        changes.push(ViewChange::LeaseGone(id));
                    }
                }
            }
        }
        for name in &dirty.nodes {
            let key = Name::from(name.as_str());
            match parts::node(cache, name, &self.settings) {
                Some(node) if told.nodes.get(&key) != Some(&node) => {
                    told.nodes.insert(Arc::clone(&key), node.clone());
                    changes.push(ViewChange::Node(key, node));
                }
                None if told.nodes.remove(&key).is_some() => {
                    changes.push(ViewChange::NodeGone(key));
                }
                _ => {}
            }
        }
        if dirty.storage {
            let storage = parts::storage(cache, &self.settings);
            let names: BTreeSet<Name> =
                told.storage.keys().chain(storage.keys()).cloned().collect();
            for name in names {
                match storage.get(&name) {
                    Some(class) if told.storage.get(&name) != Some(class) => {
                        changes.push(ViewChange::Storage(name, class.clone()));
                    }
                    Some(_) => {}
                    None => changes.push(ViewChange::StorageGone(name)),
                }
            }
            told.storage = storage;
        }
        let ports = dirty.ports.then(|| Some(parts::ports(cache)));
        if let Some(pool) = ports.filter(|pool| *pool != told.ports) {
            told.ports = pool;
            changes.push(ViewChange::Ports(pool));
        }
        let maintenance = dirty.memory.then(|| parts::maintenance(cache));
        if let Some(is_on) = maintenance.filter(|is_on| *is_on != told.maintenance) {
            told.maintenance = is_on;
            changes.push(ViewChange::Maintenance(is_on));
        }
        changes
    }
}
