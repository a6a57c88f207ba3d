//! Whether the API server answers at all, and of which cluster it is.
//!
//! A watch can be silent because nothing happens. So the API server is asked every few seconds, and
//! at once when somebody got no answer.

use std::sync::Arc;
use std::time::Duration;

use provider_engine::cluster::recognition::ClusterUid;

use super::shared::Shared;
use crate::client::{Calls, Failure, Kind};

/// How often it is asked while it answers, and while it does not.
const EVERY: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(1));
/// How long an answer may take.
pub(super) const LIMIT: Duration = Duration::from_secs(4);

/// The namespace whose uid stands for the cluster: every cluster has it, and keeps it.
const KUBE_SYSTEM: &str = "kube-system";
/// Name of its reading among the watches.
pub(super) const IDENTITY: &str = "cluster uid";

/// Asks for good.
pub(super) async fn pulse(calls: Calls, shared: Arc<Shared>) {
    loop {
        let answers = match calls.ping().await {
            Err(Failure::Unavailable { why, .. }) => {
                shared.health().is_silent(&why);
                shared.changed.notify_one();
                false
            }
            // Also who will not tell us how it is does answer.
            _ => {
                identify(&calls, &shared).await;
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

/// Finds out which cluster it is, unless that was found out since the API server last answered.
/// Until it was tried, nothing that is seen counts.
async fn identify(calls: &Calls, shared: &Shared) {
    let is_back = shared.health().is_silenced();
    if !is_back && shared.health().was_live(IDENTITY) {
        return;
    }
    match calls.get(Kind::NAMESPACE, None, KUBE_SYSTEM).await {
        Ok(namespace) => {
            let uid = namespace.as_ref().and_then(|it| it.pointer("/metadata/uid")?.as_str());
            let uid = uid.map(ClusterUid::from);
            shared.change(|mirror| mirror.uid = uid);
        }
        // Asked again with the next pulse.
        Err(Failure::Unavailable { .. }) => return,
        Err(error) => tracing::warn!(%error, "the uid of the cluster cannot be read"),
    }
    shared.health().is_live(IDENTITY);
    shared.changed.notify_one();
}
