//! Asking for the Lease, and working while it is ours.

use std::convert::Infallible;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use provider_kube::client::{Calls, Failure, Kind};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::candidate::{COUNTS, Candidate, Seen, Step};

/// How often the Lease is read.
const EVERY: Duration = Duration::from_secs(3);

/// Which Lease is asked for, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ballot {
    /// Namespace of the Lease.
    pub namespace: String,
    /// Its name.
    pub lease: String,
    /// Who asks; no other may be called so.
    pub candidate: String,
}

/// Lets `work` run whenever this replica leads, and drops it when it does not.
pub async fn lead<F>(calls: Calls, ballot: Ballot, mut work: impl FnMut() -> F) -> Infallible
where
    F: Future<Output = Infallible>,
{
    // A call that takes longer than this says nothing about now.
    let calls = calls.within(EVERY);
    let started = Instant::now();
    let mut candidate = Candidate::new(ballot.candidate.clone());
    loop {
        while !candidate.leads(started.elapsed()) {
            ask(&calls, &ballot, &mut candidate, started).await;
            if !candidate.leads(started.elapsed()) {
                tokio::time::sleep(EVERY).await;
            }
        }
        tracing::info!(candidate = ballot.candidate, "this replica leads");
        let renewing = async {
            while let Some(until) = candidate.until() {
                let renew = async {
                    tokio::time::sleep(EVERY).await;
                    ask(&calls, &ballot, &mut candidate, started).await;
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
                tracing::warn!(candidate = ballot.candidate, "this replica leads no longer");
            }
        }
    }
}

/// Reads the Lease once, and takes it if it may be taken.
async fn ask(calls: &Calls, ballot: &Ballot, candidate: &mut Candidate, started: Instant) {
    let result = async {
        let Ballot { namespace, lease, .. } = ballot;
        let there = calls.get(Kind::ELECTION, Some(namespace), lease).await?;
        if candidate.sees(there.as_ref().map(seen), started.elapsed()) == Step::Wait {
            return Ok(());
        }
        let began = started.elapsed();
        let wanted = taken(there.as_ref(), ballot, Timestamp::now());
        match there {
            None => calls.create(Kind::ELECTION, Some(namespace), &wanted).await?,
            Some(_) => calls.replace(Kind::ELECTION, Some(namespace), lease, &wanted).await?,
        };
        candidate.took(began);
        Ok(())
    };
    match result.await {
        // Somebody was faster.
        Ok(()) | Err(Failure::Conflict(_)) => {}
        Err(why) => tracing::warn!(%why, lease = ballot.lease, "cannot ask who leads"),
    }
}

fn seen(lease: &Value) -> Seen {
    let text = |pointer: &str| lease.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    Seen {
        holder: text("/spec/holderIdentity").to_owned(),
        version: text("/metadata/resourceVersion").to_owned(),
    }
}

/// The Lease as it is when it is ours.
fn taken(there: Option<&Value>, ballot: &Ballot, now: Timestamp) -> Value {
    let now = now.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
    let old = there.and_then(|there| there.get("spec"));
    let is_ours = there.is_some_and(|there| seen(there).holder == ballot.candidate);
    let changes = old.and_then(|old| old.get("leaseTransitions")?.as_u64()).unwrap_or_default();
    let since = old.and_then(|old| old.get("acquireTime")).filter(|_| is_ours).cloned();
    let mut lease = there.cloned().unwrap_or_else(|| {
        json!({
            "apiVersion": Kind::ELECTION.api_version, "kind": Kind::ELECTION.name,
            "metadata": {"name": ballot.lease, "namespace": ballot.namespace},
        })
    });
    if let Some(lease) = lease.as_object_mut() {
        let spec = json!({
            "holderIdentity": ballot.candidate,
            "leaseDurationSeconds": COUNTS.as_secs(),
            "acquireTime": since.unwrap_or_else(|| now.clone().into()),
            "renewTime": now,
            "leaseTransitions": if is_ours { changes } else { changes.saturating_add(1) },
        });
        lease.insert("spec".to_owned(), spec);
    }
    lease
}
