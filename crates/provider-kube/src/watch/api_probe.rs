//! Whether the API server answers at all, and of which cluster it is.
//!
//! A watch can be silent because nothing happens. So the API server is asked every few seconds, and
//! at once when somebody got no answer.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use kube_access::{Failure, KubeClient, ResourceKind};
use provider_engine::cluster::recognition::ClusterUid;
use serde_json::json;

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
