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
//! What to write is decided by plain functions, such as those in `deploy` and
//! [`merge`](kube_access::merge).

mod deploy;
mod under_way;
mod write;

use akash_types::LeaseId;
use kube_access::{Failure, KubeClient, Preconditions, ResourceKind};
use provider_crd::{labels, names};
use provider_engine::cluster::command::{CommandFailure, Operation};
use provider_engine::cluster::port::ReadFailure;
use serde_json::{Map, Value, json};
use write::{WriteError, Writer};

use crate::build::BuildError;
use crate::resolve::{ResolveError, ServicesDiffer};
use crate::settings::Settings;
use crate::watch::{MEMORY, Shared, parts};

pub(crate) use deploy::stale;
pub(crate) use under_way::UnderWay;

pub(crate) async fn execute(
    client: &KubeClient,
    shared: &Shared,
    settings: &Settings,
    under_way: &UnderWay,
    operation: Operation,
) -> Result<(), CommandFailure> {
    let writer = Writer { client, shared };
    let done = match operation {
        Operation::Hold(workload) => deploy::hold(writer, settings, &workload).await,
        Operation::Deploy(workload) => {
            let this = under_way.begin(&workload);
            deploy::deploy(writer, settings, &workload, &this).await
        }
        Operation::Teardown { lease, evidence: _ } => teardown(writer, settings, &lease).await,
        Operation::Maintain(is_on) => maintain(writer, settings, is_on).await,
    };
    Ok(done?)
}

/// Why an operation was not carried out: the step that failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApplyError {
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    #[error(transparent)]
    Replace(#[from] ServicesDiffer),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("{object}: {why}")]
    Write { object: String, why: WriteError },
    #[error("the Manifest that was written cannot be read")]
    Unread,
    #[error("the Manifest was deleted meanwhile")]
    Deleted,
    /// A request about no single object that was to be written.
    #[error(transparent)]
    Request(#[from] Failure),
}

impl From<ApplyError> for CommandFailure {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Request(failure) => of_command(failure),
            ApplyError::Write { object, why: WriteError::Request(failure) } => {
                match of_command(failure) {
                    Self::Refused(why) => Self::Refused(format!("{object}: {why}")),
                    Self::Unavailable(why) => Self::Unavailable(format!("{object}: {why}")),
                }
            }
            ApplyError::Write { why: WriteError::Ending, .. }
            | ApplyError::Unread
            | ApplyError::Deleted => Self::Unavailable(error.to_string()),
            ApplyError::Resolve(_)
            | ApplyError::Replace(_)
            | ApplyError::Build(_)
            | ApplyError::Write { .. } => Self::Refused(error.to_string()),
        }
    }
}

/// Deletes pods behind which updates would wait for ever, in all leases.
pub(crate) async fn free_stuck(client: &KubeClient, shared: &Shared) {
    let pods: Vec<_> = match shared.known() {
        Ok(cache) => cache.stateful().flat_map(deploy::stuck).collect(),
        Err(_) => return,
    };
    for pod in pods {
        if let Err(failure) = deploy::free(Writer { client, shared }, pod).await {
            tracing::warn!(%failure, "a pod that holds up an update cannot be deleted");
        }
    }
}

/// Has everything of a lease deleted. What leads to it goes first, then the namespace with all that
/// is in it, and the `Manifest` last: as long as anything is left, something names the lease.
///
/// How far the namespace has come, and what holds it, is in the view.
async fn teardown(
    writer: Writer<'_>,
    settings: &Settings,
    lease: &LeaseId,
) -> Result<(), ApplyError> {
    let own = settings.manifest_namespace.as_str();
    let selector = labels::lease_selector(lease);
    writer.delete_all(ResourceKind::HOST, own, &selector).await?;
    writer.delete_all(ResourceKind::LEASED_IP, own, &selector).await?;
    let namespace = names::lease_namespace(lease);
    writer.delete(ResourceKind::NAMESPACE, None, &namespace, Preconditions::default()).await?;
    writer.delete(ResourceKind::MANIFEST, Some(own), &namespace, Preconditions::default()).await?;
    Ok(())
}

/// Writes into the provider's memory whether it is in maintenance. What else it remembers stays.
async fn maintain(writer: Writer<'_>, settings: &Settings, is_on: bool) -> Result<(), ApplyError> {
    let own = settings.manifest_namespace.as_str();
    let wanted = Value::from(is_on.to_string());
    let change = |there: Option<&Value>| {
        let mut memory = there.cloned().unwrap_or_else(|| {
            json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {
                    "name": MEMORY, "namespace": own, "labels": {(labels::MANAGED): labels::TRUE},
                },
            })
        });
        if memory.pointer("/data").and_then(|data| data.get(parts::MAINTENANCE)) == Some(&wanted) {
            return Ok(None);
        }
        if let Some(memory) = memory.as_object_mut() {
            let data = memory.entry("data").or_insert_with(|| Map::new().into());
            if let Some(data) = data.as_object_mut() {
                data.insert(parts::MAINTENANCE.to_owned(), wanted.clone());
            }
        }
        Ok(Some(memory))
    };
    let existing = writer.read(ResourceKind::CONFIG_MAP, Some(own), MEMORY).await?;
    let kind = ResourceKind::CONFIG_MAP;
    let written = writer.update(kind, Some(own), MEMORY, existing, change).await?;
    let about = |why| ApplyError::Write { object: format!("{} {MEMORY}", kind.name), why };
    written.map(drop).map_err(about)
}

/// What "not found" is about here is never the lease: a namespace of the operator's, a kind.
fn of_command(failure: Failure) -> CommandFailure {
    match failure {
        Failure::Refused(why) => CommandFailure::Refused(why),
        Failure::NotFound(why) | Failure::Conflict(why) | Failure::Unavailable { why, .. } => {
            CommandFailure::Unavailable(why)
        }
    }
}

pub(crate) fn of_read(failure: Failure) -> ReadFailure {
    match of_command(failure) {
        CommandFailure::Refused(why) => ReadFailure::Refused(why),
        CommandFailure::Unavailable(why) => ReadFailure::Unavailable(why),
    }
}

#[cfg(test)]
mod tests;
