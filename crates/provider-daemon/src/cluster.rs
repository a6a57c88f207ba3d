//! What the cluster looks like, on its way to the engine.

use std::sync::Arc;

use provider_engine::Input;
use provider_engine::cluster::port::{Changes, Observe};
use provider_engine::cluster::view::ViewChange;
use tokio::sync::Notify;

use crate::engine_task::Inbox;
use crate::part::{Lifecycle, Part};

/// Passes every change on. Watching begins with the whole view each time, so it may be begun again:
/// whenever `reread` says so, the cluster is read anew.
pub(crate) async fn observe<C: Observe>(
    cluster: C,
    inbox: Inbox,
    reread: Arc<Notify>,
    part: Part,
) -> Result<(), &'static str> {
    // Whatever was seen before is not followed any more.
    let stopped = "the engine has stopped";
    inbox.tell(Input::View(ViewChange::Lost)).await.map_err(|_| stopped)?;
    let mut changes = cluster.observe();
    loop {
        let change = tokio::select! {
            change = changes.next() => change,
            () = reread.notified() => {
                changes = cluster.observe();
                continue;
            }
        };
        match &change {
            ViewChange::Lost => {
                part.has_problem("the cluster does not answer");
                tracing::warn!("the cluster does not answer: nothing is destroyed until it does");
            }
            ViewChange::Whole(view) => {
                part.is(Lifecycle::Running);
                let (nodes, leases) = (view.nodes.len(), view.leases.len());
                tracing::info!(nodes, leases, "the cluster was read whole");
            }
            _ => {}
        }
        inbox.tell(Input::View(change)).await.map_err(|_| stopped)?;
    }
}
