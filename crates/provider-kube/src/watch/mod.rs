//! Seeing what is in the cluster, all the time.
//!
//! ```text
//!  follow (one per kind) ──▶ mirror ──▶ owner ── ViewChange ──▶ who watches
//!  pulse ─────────────────▶ health ──────┘
//!                             ▲
//!                   what was written
//! ```
//!
//! - [`crate::follow`]: a list, then every change, of one kind.
//! - [`mirror`]: all that was shown, by namespace, and what of it changed.
//! - [`health`]: whether it is still so.
//! - [`pieces`]: a lease, a node, the rest, as the engine sees them.
//! - [`owner`]: looks at what changed, many changes at once, and tells.
//!
//! Everybody who reads reads the mirror. It is never behind what this process wrote. Decides
//! nothing about leases.

mod changes;
mod drawer;
mod health;
mod mirror;
mod owner;
pub(crate) mod pieces;
mod pulse;
mod shared;
#[cfg(test)]
mod tests;
mod trim;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::Metadata;
use k8s_openapi::api::core::v1::{Node, PersistentVolume, Pod};
use k8s_openapi::api::storage::v1::StorageClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::DeserializeOwned;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;

pub(crate) use crate::follow::Shown;
pub use changes::KubeChanges;
pub(crate) use drawer::Drawer;
pub(crate) use mirror::Mirror;
pub(crate) use shared::Shared;

use crate::client::{Calls, Kind};
use crate::follow::{Source, Told, follow};
use crate::settings::Settings;
use health::Health;
use owner::{Ask, Owner};
use trim::Trim;
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
const LEASED: [Kind; 10] = [
    Kind::NAMESPACE,
    Kind::NETWORK_POLICY,
    Kind::SERVICE_ACCOUNT,
    Kind::ROLE,
    Kind::ROLE_BINDING,
    Kind::SECRET,
    Kind::DEPLOYMENT,
    Kind::STATEFUL_SET,
    Kind::SERVICE,
    Kind::CLAIM,
];
/// Kinds in the namespace of the custom resources.
const CUSTOM: [Kind; 3] = [Kind::MANIFEST, Kind::HOST, Kind::LEASED_IP];

/// All watches. They end when this is dropped.
#[derive(Debug)]
pub(crate) struct Watches {
    shared: Arc<Shared>,
    asks: mpsc::Sender<Ask>,
    tasks: JoinSet<()>,
}

impl Watches {
    /// Begins to watch. Has to be called within a runtime.
    #[must_use]
    pub(crate) fn start(calls: &Calls, settings: Arc<Settings>) -> Self {
        let others = [Kind::CONFIG_MAP, Kind::POD, Kind::NODE, Kind::VOLUME, Kind::STORAGE_CLASS];
        let kinds = LEASED.iter().chain(&CUSTOM).chain(&others);
        let watches = kinds.map(|kind| kind.plural).chain([pulse::IDENTITY]);
        let shared = Arc::new(Shared::new(Health::new(watches)));
        let (asks, receiver) = mpsc::channel(ASKS);
        let (changes, _) = broadcast::channel(CHANGES);
        let mut watches = Self { shared: Arc::clone(&shared), asks, tasks: JoinSet::new() };
        let owner = Owner::new(Arc::clone(&shared), Arc::clone(&settings), changes);
        watches.tasks.spawn(owner.run(receiver));
        watches.tasks.spawn(pulse::pulse(calls.within(pulse::LIMIT), shared));

        for kind in LEASED {
            watches.shown(calls, Source { labels: OURS, ..Source::everything(kind) });
        }
        let own = Some(settings.manifest_namespace.clone());
        for kind in CUSTOM {
            watches.shown(calls, Source { namespace: own.clone(), ..Source::everything(kind) });
        }
        let fields = format!("metadata.name={MEMORY}");
        let memory = Source { namespace: own, fields, ..Source::everything(Kind::CONFIG_MAP) };
        watches.shown(calls, memory);
        watches.pods(calls);
        watches.trimmed::<Node>(calls, Kind::NODE, Mirror::told_node, |mirror| {
            mirror.nodes.keys().cloned().collect()
        });
        watches.trimmed::<PersistentVolume>(calls, Kind::VOLUME, Mirror::told_volume, |mirror| {
            mirror.volumes.keys().cloned().collect()
        });
        let classes = |mirror: &Mirror| mirror.classes.keys().cloned().collect();
        watches.trimmed::<StorageClass>(calls, Kind::STORAGE_CLASS, Mirror::told_class, classes);
        watches
    }

    /// What was shown.
    #[must_use]
    pub(crate) const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Begins to tell what changes.
    #[must_use]
    pub(crate) fn changes(&self) -> KubeChanges {
        KubeChanges::new(self.asks.clone())
    }

    fn shown(&mut self, calls: &Calls, source: Source) {
        let kind = source.kind;
        self.follow(calls, source, move |mirror, told| match told {
            Told::All(all) => mirror.told_all(kind, all),
            Told::Is(shown) => mirror.told(kind, shown),
            Told::Gone(shown) => mirror.told_gone(kind, &shown),
            Told::Live | Told::Broken(_) => {}
        });
    }

    fn pods(&mut self, calls: &Calls) {
        self.follow::<Trimmed<Pod>>(
            calls,
            Source::everything(Kind::POD),
            |mirror, told| match told {
                Told::All(all) => {
                    let all: Vec<_> = all.into_iter().map(|Trimmed(pod)| pod).collect();
                    mirror.told_all_pods(&all);
                }
                Told::Is(Trimmed(pod)) => mirror.told_pod(&pod),
                Told::Gone(Trimmed(pod)) => mirror.told_pod_gone(&pod),
                Told::Live | Told::Broken(_) => {}
            },
        );
    }

    /// Follows what is kept by name. `there` are the names that are kept.
    fn trimmed<T>(
        &mut self,
        calls: &Calls,
        kind: Kind,
        put: fn(&mut Mirror, &str, Option<Arc<T>>),
        there: fn(&Mirror) -> BTreeSet<String>,
    ) where
        T: Trim + DeserializeOwned + Metadata<Ty = ObjectMeta> + Send + Sync + 'static,
        Trimmed<T>: DeserializeOwned + Clone,
    {
        let name = |object: &Arc<T>| object.metadata().name.clone().unwrap_or_default();
        self.follow::<Trimmed<T>>(
            calls,
            Source::everything(kind),
            move |mirror, told| match told {
                Told::All(all) => {
                    let mut gone = there(mirror);
                    for Trimmed(object) in all {
                        gone.remove(&name(&object));
                        put(mirror, &name(&object), Some(object));
                    }
                    gone.iter().for_each(|name| put(mirror, name, None));
                }
                Told::Is(Trimmed(object)) => put(mirror, &name(&object), Some(object)),
                Told::Gone(Trimmed(object)) => put(mirror, &name(&object), None),
                Told::Live | Told::Broken(_) => {}
            },
        );
    }

    fn follow<T: DeserializeOwned + Clone + Send + Sync + 'static>(
        &mut self,
        calls: &Calls,
        source: Source,
        mut put: impl FnMut(&mut Mirror, Told<T>) + Send + 'static,
    ) {
        let (watch, shared) = (source.kind.plural, Arc::clone(&self.shared));
        let again = Arc::clone(&self.shared.again);
        let tell = move |told: Told<T>| match told {
            Told::Live => {
                shared.health().is_live(watch);
                shared.changed.notify_one();
            }
            Told::Broken(why) => {
                if shared.health().is_broken(watch, Instant::now(), &why) {
                    tracing::warn!(watch, why, "cannot watch; trying again");
                }
                shared.doubt.notify_one();
                shared.changed.notify_one();
            }
            told => shared.change(|mirror| put(mirror, told)),
        };
        let calls = calls.within(LISTS);
        self.tasks.spawn(follow(calls, source, tell, again));
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
