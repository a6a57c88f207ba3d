//! Asking for the Lease, and working while it is ours.

use std::convert::Infallible;
use std::time::Duration;

use crate::{Failure, KubeClient, ResourceKind};
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::claimant::{Claimant, LEASE_DURATION, Seen, Step};

/// How often the Lease is read.
const RENEW_PERIOD: Duration = Duration::from_secs(3);

/// Which Lease is asked for, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseParams {
    pub namespace: String,
    pub lease: String,
    /// Who asks; no other may be called so.
    pub claimant: String,
}

/// Lets `work` run whenever this replica leads, and drops it when it does not.
pub async fn lead<F>(
    client: KubeClient,
    params: LeaseParams,
    mut work: impl FnMut() -> F,
) -> Infallible
where
    F: Future<Output = Infallible>,
{
    // A call that takes longer than this says nothing about now.
    let client = client.within(RENEW_PERIOD);
    let started = Instant::now();
    let mut claimant = Claimant::new(params.claimant.clone());
    loop {
        while !claimant.leads(started.elapsed()) {
            ask(&client, &params, &mut claimant, started).await;
            if !claimant.leads(started.elapsed()) {
                tokio::time::sleep(RENEW_PERIOD).await;
            }
        }
        tracing::info!(claimant = params.claimant, "this replica leads");
        let renewing = async {
            while let Some(until) = claimant.until() {
                let renew = async {
                    tokio::time::sleep(RENEW_PERIOD).await;
                    ask(&client, &params, &mut claimant, started).await;
                };
                // Also while no answer comes, the time runs.
                if tokio::time::timeout_at(started + until, renew).await.is_err() {
                    break;
                }
            }
        };
        tokio::select! {
            never = work() => match never {},
            () = renewing => {
                tracing::warn!(claimant = params.claimant, "this replica leads no longer");
            }
        }
    }
}

/// Releases the Lease if this replica holds it, so that another one does not wait until it expires.
/// Call it once the work has stopped.
pub async fn release(client: KubeClient, params: &LeaseParams) {
    let client = client.within(RENEW_PERIOD);
    let result = async {
        let LeaseParams { namespace, lease, claimant } = params;
        let held = client.get(ResourceKind::ELECTION, Some(namespace), lease).await?;
        let Some(mut held) = held.filter(|held| seen(held).holder == *claimant) else {
            return Ok(());
        };
        if let Some(holder) = held.pointer_mut("/spec/holderIdentity") {
            *holder = "".into();
        }
        client.replace(ResourceKind::ELECTION, Some(namespace), lease, &held).await?;
        tracing::info!(lease, "election: Lease released");
        Ok::<_, Failure>(())
    };
    if let Err(why) = result.await {
        tracing::warn!(%why, lease = params.lease, "election: Lease not released; it expires by itself");
    }
}

/// Reads the Lease once, and takes it if it may be taken.
async fn ask(client: &KubeClient, params: &LeaseParams, claimant: &mut Claimant, started: Instant) {
    let result = async {
        let LeaseParams { namespace, lease, .. } = params;
        let there = client.get(ResourceKind::ELECTION, Some(namespace), lease).await?;
        if claimant.sees(there.as_ref().map(seen), started.elapsed()) == Step::Wait {
            return Ok(());
        }
        let began = started.elapsed();
        let wanted = taken(there.as_ref(), params, Timestamp::now());
        match there {
            None => client.create(ResourceKind::ELECTION, Some(namespace), &wanted).await?,
            Some(_) => {
                client.replace(ResourceKind::ELECTION, Some(namespace), lease, &wanted).await?
            }
        };
        claimant.took(began);
        Ok(())
    };
    match result.await {
        // Somebody was faster.
        Ok(()) | Err(Failure::Conflict(_)) => {}
        Err(why) => tracing::warn!(%why, lease = params.lease, "cannot ask who leads"),
    }
}

fn seen(lease: &Value) -> Seen {
    let text = |pointer: &str| lease.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    Seen {
        holder: text("/spec/holderIdentity").to_owned(),
        version: text("/metadata/resourceVersion").to_owned(),
    }
}

fn taken(there: Option<&Value>, params: &LeaseParams, now: Timestamp) -> Value {
    let now = now.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
    let old = there.and_then(|there| there.get("spec"));
    let is_ours = there.is_some_and(|there| seen(there).holder == params.claimant);
    let changes = old.and_then(|old| old.get("leaseTransitions")?.as_u64()).unwrap_or_default();
    let since = old.and_then(|old| old.get("acquireTime")).filter(|_| is_ours).cloned();
    let mut lease = there.cloned().unwrap_or_else(|| {
        json!({
            "apiVersion": ResourceKind::ELECTION.api_version, "kind": ResourceKind::ELECTION.name,
            "metadata": {"name": params.lease, "namespace": params.namespace},
        })
    });
    if let Some(lease) = lease.as_object_mut() {
        let spec = json!({
            "holderIdentity": params.claimant,
            "leaseDurationSeconds": LEASE_DURATION.as_secs(),
            "acquireTime": since.unwrap_or_else(|| now.clone().into()),
            "renewTime": now,
            "leaseTransitions": if is_ours { changes } else { changes.saturating_add(1) },
        });
        lease.insert("spec".to_owned(), spec);
    }
    lease
}
