//! Pods behind which an update waits for ever.
//!
//! A StatefulSet replaces one pod after the other, and waits for one that is not ready before it
//! goes on: also for one of the old template, which will never be ready. Kubernetes leaves it to
//! somebody else to delete it.

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use kube_access::ResourceKind;
use provider_engine::cluster::view::Condition;

use crate::observe::condition;
use crate::observe::rollout::{is_rolling, revision_of, update_revision};
use crate::watch::NamespaceEntry;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stuck {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
}

/// Pods of StatefulSets that are older than the set's template and do not work. The set would
/// replace them anyway; what they stored is not theirs. None as long as the set's controller has not
/// seen the newest template: until then its revision is not known.
pub(crate) fn stuck(entry: &NamespaceEntry) -> Vec<Stuck> {
    let mut found = Vec::new();
    for shown in entry.of(ResourceKind::STATEFUL_SET) {
        let mut idle = entry.pods.values().filter(|pod| is_idle(pod, &shown.uid)).peekable();
        if idle.peek().is_none() {
            continue;
        }
        let set: Option<StatefulSet> = shown.typed(ResourceKind::STATEFUL_SET);
        let Some(set) = set.filter(is_rolling) else { continue };
        let Some(newest) = update_revision(&set) else { continue };
        let is_old = |pod: &&_| revision_of(pod).is_some_and(|revision| revision != newest);
        found.extend(idle.map(|pod| &**pod).filter(is_old).map(|pod: &Pod| {
            let metadata = &pod.metadata;
            Stuck {
                namespace: metadata.namespace.clone().unwrap_or_default(),
                name: metadata.name.clone().unwrap_or_default(),
                uid: metadata.uid.clone().unwrap_or_default(),
            }
        }));
    }
    found
}

/// Whether a pod is of this set and does not work.
fn is_idle(pod: &Pod, set: &str) -> bool {
    let mut owners = pod.metadata.owner_references.iter().flatten();
    owners.any(|owner| owner.uid == set)
        && !matches!(condition(pod), Condition::Ready | Condition::Ending)
}
