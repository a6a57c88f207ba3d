//! How far the update of a workload has come, by what its controller says.
//!
//! The revision label of our own is no measure: Go providers since #434 leave it out of new pod
//! templates and keep its old value in others.

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::Pod;

/// Label that the controller puts on each pod of a StatefulSet: the revision it was made from.
pub(crate) const POD_REVISION: &str = "controller-revision-hash";

/// The revision that all pods of a StatefulSet are to have; `None` as long as the controller has
/// not seen the newest template.
pub(crate) fn update_revision(set: &StatefulSet) -> Option<&str> {
    let status = set.status.as_ref()?;
    is_observed(status.observed_generation, set.metadata.generation)
        .then_some(status.update_revision.as_deref())
        .flatten()
}

/// Whether the controller replaces every pod of the set by itself, one after the other.
pub(crate) fn is_rolling(set: &StatefulSet) -> bool {
    let strategy = set.spec.update_strategy.as_ref();
    strategy.is_none_or(|strategy| {
        let rolling = strategy.rolling_update.as_ref();
        strategy.type_.as_deref().unwrap_or("RollingUpdate") == "RollingUpdate"
            && rolling.and_then(|rolling| rolling.partition).unwrap_or_default() == 0
    })
}

/// The revision that a pod of a StatefulSet was made from.
pub(crate) fn revision_of(pod: &Pod) -> Option<&str> {
    pod.metadata.labels.as_ref()?.get(POD_REVISION).map(String::as_str)
}

/// How many pods of a Deployment are of its newest template. Its pods do not say so themselves.
pub(crate) fn updated(deployment: &Deployment) -> usize {
    let Some(status) = &deployment.status else { return 0 };
    let counted = status
        .updated_replicas
        .filter(|_| is_observed(status.observed_generation, deployment.metadata.generation));
    counted.and_then(|count| usize::try_from(count).ok()).unwrap_or_default()
}

fn is_observed(observed: Option<i64>, generation: Option<i64>) -> bool {
    observed.is_some() && observed == generation
}
