//! From a question to its answer.

use std::sync::Arc;

use akash_sdl::{Manifest, Sdl};
use akash_types::{DeploymentId, LeaseId};
use provider_engine::engine::{BidStatus, LeaseStatus};
use provider_engine::manifest::{ManifestAnswer, ManifestRefusal, MigrationAnswer};
use provider_engine::reconcile::Drift;
use provider_engine::{OperatorRequest, Received, Reply, TenantRequest};

use super::server::{Operate, Unavailable};
use super::subject::{self, Meant};
use super::wire::{Bid, DriftItem, Explained, Funds, Inventory, Lease, Request, Response};

/// How many subjects one question is answered for.
const MOST_SUBJECTS: usize = 64;

pub(super) async fn answer(provider: &impl Operate, request: Request) -> Response {
    let asked = match request {
        Request::Status => Ok(Response::Status(Box::new(provider.status()))),
        Request::Bids => Ok(Response::Bids { bids: provider.bids().iter().map(bid).collect() }),
        Request::Leases => {
            Ok(Response::Leases { leases: provider.leases().iter().map(lease).collect() })
        }
        Request::Inventory => inventory(provider),
        Request::Why { subject } => why(provider, subject.trim()),
        Request::Drift => ask(provider, OperatorRequest::Drift, "").await,
        Request::Maintenance { on } => {
            let words = match on {
                true => "maintenance is on: no bids, no closes; tenants keep what runs",
                false => "maintenance is off",
            };
            ask(provider, OperatorRequest::Maintenance(on), words).await
        }
        Request::SendManifest { subject, manifest } => {
            send_manifest(provider, subject.trim(), &manifest).await
        }
        Request::ClusterAccept => {
            let words = "the cluster is accepted: leases whose manifest is known are deployed, \
                         the tenants of the others have to send theirs again";
            ask(provider, OperatorRequest::AcceptCluster, words).await
        }
        Request::LeaseRedeploy { lease } => {
            about_lease(provider, &lease, OperatorRequest::Redeploy, "is deployed again").await
        }
        Request::LeaseCloseLost { lease } => {
            about_lease(provider, &lease, OperatorRequest::CloseLost, "is being closed").await
        }
        Request::LeaseClose { lease, reason } => close(provider, lease.trim(), reason.trim()).await,
        Request::Withdraw { lease } => withdraw(provider, lease.as_deref()).await,
        Request::ProbeIsolation { image } => probe_isolation(provider, image).await,
        Request::BreakerReset => {
            let words = "leases that look bad now may be closed";
            ask(provider, OperatorRequest::ResetBreaker, words).await
        }
    };
    asked.unwrap_or_else(|refusal| refusal)
}

/// Either way an answer; the second kind ends early.
type Answered = Result<Response, Response>;

fn inventory(provider: &impl Operate) -> Answered {
    let hint = "see `provider-services ctl status` for what it waits for";
    let seen = provider.inventory();
    let seen = seen.ok_or_else(|| Response::error("the cluster was not seen yet", hint))?;
    let fresh = provider.status().cluster_fresh;
    Ok(Response::Inventory(Box::new(Inventory::of(fresh, &seen))))
}

fn why(provider: &impl Operate, text: &str) -> Answered {
    let subjects = match subject::subject(text)? {
        Meant::Subject(subject) => vec![subject],
        Meant::Number(dseq) => provider.subjects(dseq),
    };
    let mut explained = Vec::new();
    for subject in subjects.into_iter().take(MOST_SUBJECTS) {
        let decisions = provider.decisions(subject);
        if !decisions.is_empty() {
            explained.push(Explained { subject: subject.to_string(), decisions });
        }
    }
    if explained.is_empty() {
        let hint = match text {
            subject::PROVIDER => {
                "maintenance, the breaker and the wallet show here once they change"
            }
            _ => "the order may be on another chain, or so old that only its end is known there",
        };
        return Err(Response::error(format!("nothing was decided about {text}"), hint));
    }
    Ok(Response::Why { subjects: explained })
}

async fn send_manifest(provider: &impl Operate, text: &str, manifest: &str) -> Answered {
    let deployment: DeploymentId = subject::deployment(text, &provider.leases())?;
    let (manifest, received) = read_manifest(manifest)?;
    let manifest = Arc::new(manifest);
    let request = TenantRequest::Manifest { deployment, manifest, received };
    let reply = provider.tenant(request).await.map_err(unavailable)?;
    Ok(shown(reply, "the manifest is accepted"))
}

/// An SDL, or the JSON that a tenant would send.
fn read_manifest(text: &str) -> Result<(Manifest, Received), Response> {
    if text.trim_start().starts_with('[') {
        let decoded = Manifest::from_json(text.as_bytes());
        let hint = "give an SDL, or what `provider-services sdl-to-manifest` prints";
        let decoded = decoded.map_err(|error| {
            Response::error(format!("the manifest cannot be read: {error}"), hint)
        })?;
        return Ok(Received::of(decoded, text.as_bytes()));
    }
    let hint = "see `provider-services sdl validate` for each problem and its line";
    match Sdl::read(text) {
        Ok(sdl) => Ok((sdl.into_parts().1, Received::default())),
        Err(errors) => Err(Response::error(format!("the SDL is not valid: {errors}"), hint)),
    }
}

async fn close(provider: &impl Operate, lease: &str, reason: &str) -> Answered {
    let lease = subject::lease(lease, &provider.leases())?;
    let reason = subject::reason_from(reason)
        .map_err(|error| Response::Error { message: error.to_string(), hint: None })?;
    let words = format!("lease {lease} is being closed; what runs goes on until the chain says so");
    ask(provider, OperatorRequest::CloseLease { lease, reason }, &words).await
}

async fn about_lease(
    provider: &impl Operate,
    text: &str,
    request: fn(LeaseId) -> OperatorRequest,
    done: &str,
) -> Answered {
    let lease = subject::lease(text.trim(), &provider.leases())?;
    ask(provider, request(lease), &format!("lease {lease} {done}")).await
}

async fn withdraw(provider: &impl Operate, lease: Option<&str>) -> Answered {
    let lease = match lease {
        Some(text) => Some(subject::lease(text.trim(), &provider.leases())?),
        None => None,
    };
    let words = match lease {
        Some(lease) => format!("the earnings of {lease} are being collected"),
        None => "the earnings of all leases are being collected".to_owned(),
    };
    ask(provider, OperatorRequest::Withdraw(lease), &words).await
}

async fn probe_isolation(provider: &impl Operate, image: Option<String>) -> Answered {
    let hint = "this says nothing about isolation; with what it names mended, probe again";
    let attempts = provider.probe_isolation(image).await.map_err(|why| {
        Response::error(format!("isolation is unknown, the probe was not made: {why}"), hint)
    })?;
    let isolated = attempts.iter().all(|attempt| !attempt.reached);
    Ok(Response::Isolation { isolated, attempts })
}

async fn ask(provider: &impl Operate, request: OperatorRequest, done: &str) -> Answered {
    let reply = provider.operator(request).await.map_err(unavailable)?;
    Ok(shown(reply, done))
}

fn unavailable(why: Unavailable) -> Response {
    let hint = match why {
        Unavailable::Busy => "try again in a moment",
        Unavailable::Stopping => "start it again, then ask",
        Unavailable::TimedOut => "see `provider-services ctl status` and `ctl leases`",
    };
    Response::error(why.to_string(), hint)
}

fn shown(reply: Reply, done: &str) -> Response {
    match reply {
        Reply::Done => Response::done(done),
        Reply::Refused(message) => Response::Error { message, hint: None },
        Reply::Drift(drift) => Response::Drift { drift: drift.iter().map(drift_item).collect() },
        Reply::Manifest(ManifestAnswer::Accepted { leases }) => {
            let leases: Vec<String> = leases.iter().map(ToString::to_string).collect();
            Response::done(format!("{done}, for {}", leases.join(", ")))
        }
        Reply::Manifest(ManifestAnswer::Refused(refusal)) => refused(&refusal),
        Reply::Migration(MigrationAnswer::Transferred(names)) => {
            Response::done(format!("moved: {}", names.join(", ")))
        }
        Reply::Migration(MigrationAnswer::Refused(refusal)) => {
            Response::Error { message: refusal.to_string(), hint: None }
        }
    }
}

fn refused(refusal: &ManifestRefusal) -> Response {
    let hint = match refusal {
        ManifestRefusal::Version { .. } => {
            Some("the deployment on chain was made from another SDL; its tenant must update it")
        }
        ManifestRefusal::NoLease | ManifestRefusal::UnknownDeployment(_) => {
            Some("see `provider-services ctl leases`")
        }
        ManifestRefusal::Chain(_) | ManifestRefusal::ClusterUnavailable(_) => {
            Some("see `provider-services ctl status`, then try again")
        }
        _ => None,
    };
    Response::Error { message: refusal.to_string(), hint: hint.map(str::to_owned) }
}

fn drift_item(drift: &Drift) -> DriftItem {
    DriftItem {
        code: drift.code().to_owned(),
        order: drift.order().to_string(),
        text: drift.to_string(),
    }
}

fn bid(bid: &BidStatus) -> Bid {
    Bid {
        order: bid.order.to_string(),
        price: bid.price.as_ref().map(ToString::to_string),
        stage: bid.stage.to_owned(),
        since_height: bid.created_at,
    }
}

fn lease(lease: &LeaseStatus) -> Lease {
    Lease {
        id: lease.id.to_string(),
        price: lease.price.to_string(),
        stage: lease.stage.to_owned(),
        pays: lease.alive,
        lacks_manifest: lease.lacks_manifest,
        funds: lease.funds.map(|funds| Funds {
            dry: funds.is_dry,
            dry_at: funds.dry_at,
            blocks_left: funds.blocks_left,
            seconds_left: funds.time_left.map(|time| time.as_secs()),
            read_at: funds.read_at,
        }),
    }
}
