//! Doing what was decided: the only step that writes.
//!
//! ```text
//! Workload ──resolve──▶ Manifest ──write──▶ revision ──build──▶ objects
//!                                                                  │ steps
//!                            namespace ▶ guards ▶ ways ▶ names ▶ workloads
//!                                                        └▶ what is stale goes
//! ```
//!
//! Each object is compared with what the watches show and written at most once, or not at all.
//! Where somebody else wrote it meanwhile it is read again; where the API server is busy it is asked
//! again, a few times. Objects that do not depend on each other are written together.
//!
//! What to write is decided by plain functions: `plan`, `stale`, `stuck`, `retry`,
//! and [`merge`](kube_access::merge).

mod deploy;
mod maintain;
mod plan;
mod retry;
mod stale;
mod stuck;
mod teardown;
#[cfg(test)]
mod tests;
mod under_way;
mod write;

use kube_access::KubeClient;
use provider_engine::cluster::command::{CommandFailure, Operation};
use write::Writer;

use crate::failure::of_command;
use crate::settings::Settings;
use crate::watch::Shared;
pub(crate) use stale::stale;
pub(crate) use under_way::UnderWay;

pub(crate) async fn execute(
    client: &KubeClient,
    shared: &Shared,
    settings: &Settings,
    under_way: &UnderWay,
    operation: Operation,
) -> Result<(), CommandFailure> {
    let writer = Writer { client, shared };
    match operation {
        Operation::Hold(workload) => deploy::hold(writer, settings, &workload).await,
        Operation::Deploy(workload) => {
            let this = under_way.begin(&workload);
            deploy::deploy(writer, settings, &workload, &this).await
        }
        Operation::Teardown { lease, evidence: _ } => {
            teardown::teardown(writer, settings, &lease).await.map_err(of_command)
        }
        Operation::Maintain(is_on) => {
            maintain::maintain(writer, settings, is_on).await.map_err(of_command)
        }
    }
}

/// Deletes pods behind which updates would wait for ever, in all leases.
pub(crate) async fn free_stuck(client: &KubeClient, shared: &Shared) {
    let pods: Vec<_> = match shared.known() {
        Ok(cache) => cache.stateful().flat_map(stuck::stuck).collect(),
        Err(_) => return,
    };
    for pod in pods {
        if let Err(failure) = deploy::free(Writer { client, shared }, pod).await {
            tracing::warn!(%failure, "a pod that holds up an update cannot be deleted");
        }
    }
}
