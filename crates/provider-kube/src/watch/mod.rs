//! Seeing what is in the cluster, all the time.
//!
//! ```text
//!                   what was written
//!                             ▼
//!  follow (one per kind) ──▶ cache ──▶ owner ── ViewChange ──▶ KubeChanges
//!  api_probe ─────────────▶ health ──────┘
//! ```
//!
//! - [`kube_access::follow`]: a list, then every change, of one kind.
//! - [`cache`]: the objects of the cluster, by namespace, and which of them changed.
//! - [`api_probe`]: whether it is still so.
//! - [`ceph`]: what pools of Ceph clusters have, which no object says.
//! - [`parts`]: parts of the view: a lease, a node, the rest, as the engine sees them.
//! - [`owner`]: looks at what changed, many changes at once, and tells.
//!
//! All readers read the cache. It is never behind what this process wrote. Decides
//! nothing about leases.

mod api_probe;
mod cache;
mod ceph;
mod namespace;
mod owner;
pub(crate) mod parts;
mod shared;
#[cfg(test)]
mod tests;
mod trim;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use api_probe::Health;
use k8s_openapi::Metadata;
use k8s_openapi::api::core::v1::{Node, PersistentVolume, Pod};
use k8s_openapi::api::storage::v1::StorageClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_access::follow::{Source, WatchEvent, follow};
use kube_access::{KubeClient, ResourceKind};
use owner::{Ask, Owner};
use serde::de::DeserializeOwned;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;
use trim::Trim;

use crate::settings::Settings;
pub(crate) use cache::ObjectCache;
pub(crate) use kube_access::CachedObject;
pub(crate) use namespace::NamespaceEntry;
pub use shared::KubeChanges;
pub(crate) use shared::Shared;
pub(crate) use trim::Trimmed;

/// Selects what the provider made.
const OURS: &str = "akash.network=true";
/// Name of the ConfigMap in which the provider remembers what is its own to know.
pub(crate) const MEMORY: &str = "akash-provider-memory";
/// Changes that somebody who watches may be behind.
const CHANGES: usize = 4096;
/// Requests to watch that may wait.
const ASKS: usize = 16;

/// Kinds in the namespaces of leases, by our label.
const LEASED: [ResourceKind; 9] = [
    ResourceKind::NAMESPACE,
    ResourceKind::NETWORK_POLICY,
    ResourceKind::SERVICE_ACCOUNT,
    ResourceKind::ROLE,
    ResourceKind::ROLE_BINDING,
    ResourceKind::SECRET,
    ResourceKind::DEPLOYMENT,
    ResourceKind::STATEFUL_SET,
    ResourceKind::CLAIM,
];
const CUSTOM: [ResourceKind; 3] =
    [ResourceKind::MANIFEST, ResourceKind::HOST, ResourceKind::LEASED_IP];

/// All watches. They end when this is dropped.
#[derive(Debug)]
pub(crate) struct Watches {
    shared: Arc<Shared>,
    asks: mpsc::Sender<Ask>,
    tasks: JoinSet<()>,
}

impl Watches {
    /// Begins to watch. Has to be called within a runtime.
    pub(crate) fn start(client: &KubeClient, settings: Arc<Settings>) -> Self {
        let others = [
            ResourceKind::CONFIG_MAP,
            ResourceKind::SERVICE,
            ResourceKind::POD,
            ResourceKind::NODE,
            ResourceKind::VOLUME,
            ResourceKind::STORAGE_CLASS,
        ];
        let kinds = LEASED.iter().chain(&CUSTOM).chain(&others);
        let watches = kinds.map(|kind| kind.plural).chain([api_probe::IDENTITY]);
        let shared = Arc::new(Shared::new(Health::new(watches)));
        let (asks, receiver) = mpsc::channel(ASKS);
        let (changes, _) = broadcast::channel(CHANGES);
        let mut watches = Self { shared: Arc::clone(&shared), asks, tasks: JoinSet::new() };
        let owner = Owner::new(Arc::clone(&shared), Arc::clone(&settings), changes);
        watches.tasks.spawn(owner.run(receiver));
        watches.tasks.spawn(api_probe::run(
            client.within(api_probe::LIMIT),
            shared,
            settings.manifest_namespace.clone(),
        ));

        let pools = ceph::run(client.within(ceph::LIMIT), Arc::clone(&watches.shared));
        watches.tasks.spawn(pools);
        for kind in LEASED {
            watches.shown(client, Source { labels: OURS, ..Source::everything(kind) });
        }
        let own = Some(settings.manifest_namespace.clone());
        for kind in CUSTOM {
            watches.shown(client, Source { namespace: own.clone(), ..Source::everything(kind) });
        }
        let fields = format!("metadata.name={MEMORY}");
        let memory =
            Source { namespace: own, fields, ..Source::everything(ResourceKind::CONFIG_MAP) };
        watches.shown(client, memory);
        watches.services(client);
        watches.pods(client);
        watches.trimmed::<Node>(client, ResourceKind::NODE, ObjectCache::set_node, |cache| {
            cache.nodes.keys().cloned().collect()
        });
        watches.trimmed::<PersistentVolume>(
            client,
            ResourceKind::VOLUME,
            ObjectCache::set_volume,
            |cache| cache.volumes.keys().cloned().collect(),
        );
        let classes = |cache: &ObjectCache| cache.classes.keys().cloned().collect();
        watches.trimmed::<StorageClass>(
            client,
            ResourceKind::STORAGE_CLASS,
            ObjectCache::set_class,
            classes,
        );
        watches
    }

    pub(crate) const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Begins to tell what changes.
    pub(crate) fn changes(&self) -> KubeChanges {
        KubeChanges::new(self.asks.clone())
    }

    fn shown(&mut self, client: &KubeClient, source: Source) {
        let kind = source.kind;
        self.follow(client, source, move |cache, told| match told {
            WatchEvent::Synced(all) => cache.synced(kind, all),
            WatchEvent::Applied(shown) => cache.applied(kind, shown),
            WatchEvent::Deleted(shown) => cache.deleted(kind, &shown),
            WatchEvent::Connected | WatchEvent::Failed(_) => {}
        });
    }

    /// All services: those of leases, and the node ports of all others.
    fn services(&mut self, client: &KubeClient) {
        let source = Source::everything(ResourceKind::SERVICE);
        self.follow::<CachedObject>(client, source, |cache, told| match told {
            WatchEvent::Synced(all) => cache.services_synced(all),
            WatchEvent::Applied(shown) => cache.service_applied(shown),
            WatchEvent::Deleted(shown) => cache.service_deleted(&shown),
            WatchEvent::Connected | WatchEvent::Failed(_) => {}
        });
    }

    fn pods(&mut self, client: &KubeClient) {
        self.follow::<Trimmed<Pod>>(
            client,
            Source::everything(ResourceKind::POD),
            |cache, told| match told {
                WatchEvent::Synced(all) => {
                    let all: Vec<_> = all.into_iter().map(|Trimmed(pod)| pod).collect();
                    cache.pods_synced(&all);
                }
                WatchEvent::Applied(Trimmed(pod)) => cache.pod_applied(&pod),
                WatchEvent::Deleted(Trimmed(pod)) => cache.pod_deleted(&pod),
                WatchEvent::Connected | WatchEvent::Failed(_) => {}
            },
        );
    }

    /// Follows what is kept by name. `there` are the names that are kept.
    fn trimmed<T>(
        &mut self,
        client: &KubeClient,
        kind: ResourceKind,
        put: fn(&mut ObjectCache, &str, Option<Arc<T>>),
        there: fn(&ObjectCache) -> BTreeSet<String>,
    ) where
        T: Trim + DeserializeOwned + Metadata<Ty = ObjectMeta> + Send + Sync + 'static,
        Trimmed<T>: DeserializeOwned + Clone,
    {
        let name = |object: &Arc<T>| object.metadata().name.clone().unwrap_or_default();
        self.follow::<Trimmed<T>>(
            client,
            Source::everything(kind),
            move |cache, told| match told {
                WatchEvent::Synced(all) => {
                    let mut gone = there(cache);
                    for Trimmed(object) in all {
                        gone.remove(&name(&object));
                        put(cache, &name(&object), Some(object));
                    }
                    gone.iter().for_each(|name| put(cache, name, None));
                }
                WatchEvent::Applied(Trimmed(object)) => put(cache, &name(&object), Some(object)),
                WatchEvent::Deleted(Trimmed(object)) => put(cache, &name(&object), None),
                WatchEvent::Connected | WatchEvent::Failed(_) => {}
            },
        );
    }

    fn follow<T: DeserializeOwned + Clone + Send + Sync + 'static>(
        &mut self,
        client: &KubeClient,
        source: Source,
        mut put: impl FnMut(&mut ObjectCache, WatchEvent<T>) + Send + 'static,
    ) {
        let (watch, shared) = (source.kind.plural, Arc::clone(&self.shared));
        let again = Arc::clone(&self.shared.again);
        let tell = move |told: WatchEvent<T>| match told {
            WatchEvent::Connected => {
                shared.health().is_live(watch);
                shared.changed.notify_one();
            }
            WatchEvent::Failed(failure) => {
                let why = failure.to_string();
                if shared.health().is_broken(watch, Instant::now(), &why) {
                    tracing::warn!(watch, why, "cannot watch; trying again");
                }
                shared.doubt.notify_one();
                shared.changed.notify_one();
            }
            told => shared.change(|cache| put(cache, told)),
        };
        let client = client.within(LISTS);
        self.tasks.spawn(follow(client, source, tell, again));
    }

    /// Waits until it is known how things are, at most so long.
    pub(crate) async fn is_known(&self, limit: Duration) -> bool {
        let mut turns = self.shared.turns();
        let known = async {
            while self.shared.known().is_err() {
                if turns.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        };
        tokio::time::timeout(limit, known).await.is_ok()
    }
}

/// How long a page of a list may take.
const LISTS: Duration = Duration::from_secs(30);
