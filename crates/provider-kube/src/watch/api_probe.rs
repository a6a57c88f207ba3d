//! Whether the API server answers at all, and of which cluster it is.
//!
//! A watch can be silent because nothing happens. So the API server is asked every few seconds, and
//! at once when somebody got no answer.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use kube_access::{Failure, KubeClient, ResourceKind};
use provider_engine::cluster::recognition::ClusterUid;
use serde_json::json;
use tokio::time::Instant;

use super::shared::Shared;
use crate::observe::node_ports;

/// How often it is asked while it answers, and while it does not.
const EVERY: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(1));
/// How long an answer may take.
pub(super) const LIMIT: Duration = Duration::from_secs(4);

/// The namespace whose uid stands for the cluster: every cluster has it, and keeps it.
const KUBE_SYSTEM: &str = "kube-system";
/// Name of its reading among the watches.
pub(super) const IDENTITY: &str = "cluster uid";

pub(super) async fn run(client: KubeClient, shared: Arc<Shared>, namespace: String) {
    loop {
        let answers = match client.ping().await {
            Err(Failure::Unavailable { why, .. }) => {
                shared.health().is_silent(&why);
                shared.changed.notify_one();
                false
            }
            // Also who will not tell us how it is does answer.
            _ => {
                identify(&client, &shared, &namespace).await;
                if shared.health().answers() {
                    shared.again.notify_waiters();
                    shared.changed.notify_one();
                }
                true
            }
        };
        let (well, silent) = EVERY;
        tokio::select! {
            () = tokio::time::sleep(if answers { well } else { silent }) => {}
            () = shared.doubt.notified(), if answers => {}
        }
    }
}

/// Finds out which cluster it is and which node ports it has, unless that was found out since the
/// API server last answered. Until it was tried, nothing that is seen counts.
async fn identify(client: &KubeClient, shared: &Shared, namespace: &str) {
    let is_back = shared.health().is_silenced();
    if !is_back && shared.health().was_live(IDENTITY) {
        return;
    }
    match client.get(ResourceKind::NAMESPACE, None, KUBE_SYSTEM).await {
        Ok(namespace) => {
            let uid = namespace.as_ref().and_then(|it| it.pointer("/metadata/uid")?.as_str());
            let uid = uid.map(ClusterUid::from);
            shared.change(|cache| cache.uid = uid);
        }
        // Asked again with the next pulse.
        Err(Failure::Unavailable { .. }) => return,
        Err(error) => tracing::warn!(%error, "the uid of the cluster cannot be read"),
    }
    match node_port_range(client, namespace).await {
        Ok(range) => shared.change(|cache| cache.set_port_range(range)),
        Err(Failure::Unavailable { .. }) => return,
        Err(error) => tracing::debug!(%error, "the range of node ports cannot be found out"),
    }
    shared.health().is_live(IDENTITY);
    shared.changed.notify_one();
}

/// The ports of nodes that services can have; `None` if the API server takes every port. No object
/// shows them: the API server names them when it refuses a port outside of them.
async fn node_port_range(
    client: &KubeClient,
    namespace: &str,
) -> Result<Option<RangeInclusive<u16>>, Failure> {
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"generateName": "node-ports-"},
        "spec": {"type": "NodePort", "ports": [{"port": 1, "nodePort": 1}]},
    });
    client.in_refusal(ResourceKind::SERVICE, Some(namespace), &service, node_ports::range_in).await
}

/// How long a watch may be broken before what it showed counts as history.
const GRACE: Duration = Duration::from_secs(3);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Watch {
    Starting(Option<String>),
    Live,
    Broken { since: Instant, why: String },
}

/// Whether what is seen is how things are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Health {
    watches: BTreeMap<&'static str, Watch>,
    silence: Option<String>,
}

impl Health {
    /// Nothing was seen yet of these.
    pub(crate) fn new(watches: impl Iterator<Item = &'static str>) -> Self {
        let watches = watches.map(|name| (name, Watch::Starting(None))).collect();
        Self { watches, silence: None }
    }

    /// A watch shows what is there, and what changes.
    pub(crate) fn is_live(&mut self, watch: &'static str) {
        self.watches.insert(watch, Watch::Live);
    }

    pub(crate) fn was_live(&self, watch: &'static str) -> bool {
        !matches!(self.watches.get(watch), None | Some(Watch::Starting(_)))
    }

    /// A watch shows nothing any more. Whether that, or why, is new.
    pub(crate) fn is_broken(&mut self, watch: &'static str, now: Instant, why: &str) -> bool {
        let state = self.watches.entry(watch).or_insert(Watch::Starting(None));
        match state {
            Watch::Starting(last) => last.replace(why.to_owned()).as_deref() != Some(why),
            Watch::Live => {
                *state = Watch::Broken { since: now, why: why.to_owned() };
                true
            }
            Watch::Broken { why: last, .. } => {
                std::mem::replace(last, why.to_owned()).as_str() != why
            }
        }
    }

    /// The API server answers. Whether it did not before.
    pub(crate) fn answers(&mut self) -> bool {
        self.silence.take().is_some()
    }

    /// Whether the API server did not answer when it was last asked.
    pub(crate) const fn is_silenced(&self) -> bool {
        self.silence.is_some()
    }

    /// The API server does not answer.
    pub(crate) fn is_silent(&mut self, why: &str) {
        self.silence = Some(why.to_owned());
    }

    /// Why what is seen is not known to be how things are, if it is not.
    pub(crate) fn unknown(&self, now: Instant) -> Option<String> {
        if let Some(why) = &self.silence {
            return Some(why.clone());
        }
        self.watches.iter().find_map(|(watch, state)| match state {
            Watch::Starting(Some(why)) => Some(format!("cannot watch {watch}: {why}")),
            Watch::Starting(None) => Some(format!("{watch} were not read yet")),
            Watch::Broken { since, why } if now.duration_since(*since) >= GRACE => {
                Some(format!("cannot watch {watch}: {why}"))
            }
            Watch::Broken { .. } | Watch::Live => None,
        })
    }

    /// When that may change although nothing is told.
    pub(crate) fn due(&self) -> Option<Instant> {
        let broken = self.watches.values().filter_map(|state| match state {
            Watch::Broken { since, .. } => Some(*since + GRACE),
            Watch::Starting(_) | Watch::Live => None,
        });
        broken.min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_known_once_every_watch_has_listed() {
        let now = Instant::now();
        let mut health = Health::new(["pods", "nodes"].into_iter());
        assert_eq!(health.unknown(now).as_deref(), Some("nodes were not read yet"));
        health.is_live("nodes");
        assert!(health.is_broken("pods", now, "forbidden"));
        assert!(!health.is_broken("pods", now, "forbidden"));
        assert_eq!(health.unknown(now).as_deref(), Some("cannot watch pods: forbidden"));
        health.is_live("pods");
        assert_eq!(health.unknown(now), None);
    }

    #[test]
    fn a_watch_that_begins_again_soon_is_no_loss() {
        let now = Instant::now();
        let mut health = Health::new(["pods"].into_iter());
        health.is_live("pods");
        assert!(health.is_broken("pods", now, "reset"));
        assert_eq!(health.unknown(now), None);
        assert_eq!(health.due(), Some(now + GRACE));
        assert!(health.is_broken("pods", now + GRACE / 2, "refused"));
        assert_eq!(health.unknown(now + GRACE).as_deref(), Some("cannot watch pods: refused"));
        health.is_live("pods");
        assert_eq!((health.unknown(now + GRACE), health.due()), (None, None));
    }

    #[test]
    fn silence_is_a_loss_at_once() {
        let now = Instant::now();
        let mut health = Health::default();
        assert!(!health.answers());
        health.is_silent("connection refused");
        assert_eq!(health.unknown(now).as_deref(), Some("connection refused"));
        assert!(health.answers());
        assert_eq!(health.unknown(now), None);
    }
}
