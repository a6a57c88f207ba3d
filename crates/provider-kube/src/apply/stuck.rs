//! Pods behind which an update waits for ever.
//!
//! A StatefulSet replaces one pod after the other, and waits for one that is not ready before it
//! goes on: also for one of the old template, which will never be ready. Kubernetes leaves it to
//! somebody else to delete it.

use provider_crd::labels;
use provider_engine::cluster::view::Condition;

use crate::client::Kind;
use crate::observe::condition;
use crate::watch::Drawer;

/// A pod to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stuck {
    /// Its namespace.
    pub(crate) namespace: String,
    /// Its name.
    pub(crate) name: String,
    /// Its identity.
    pub(crate) uid: String,
}

/// Pods of StatefulSets that are older than the set's template and do not work. The set would
/// replace them anyway; what they stored is not theirs.
#[must_use]
pub(crate) fn stuck(drawer: &Drawer) -> Vec<Stuck> {
    let mut found = Vec::new();
    for set in drawer.of(Kind::STATEFUL_SET) {
        let revision = set.labels.get(labels::REVISION);
        for pod in drawer.pods.values() {
            let owners = pod.metadata.owner_references.iter().flatten();
            let is_of_set = owners.into_iter().any(|owner| owner.uid == set.uid);
            let labelled = pod.metadata.labels.as_ref();
            let is_old = labelled.and_then(|found| found.get(labels::REVISION)) != revision;
            let is_idle = !matches!(condition(pod), Condition::Ready | Condition::Ending);
            if is_of_set && is_old && is_idle {
                let metadata = &pod.metadata;
                found.push(Stuck {
                    namespace: metadata.namespace.clone().unwrap_or_default(),
                    name: metadata.name.clone().unwrap_or_default(),
                    uid: metadata.uid.clone().unwrap_or_default(),
                });
            }
        }
    }
    found
}
