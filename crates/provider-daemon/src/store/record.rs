//! A decision as it is written down.

use akash_types::DecCoin;
use provider_engine::journal::{Decision, Entry};
use provider_engine::lease::{Health, LeaseCause};
use provider_engine::order::decline::Decline;
use provider_engine::order::isolation::IsolationHold;
use provider_engine::order::{CloseCause, Ending};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::StoreError;

/// Most characters of words. A tenant's manifest can make a refusal long.
const WORDS: usize = 2_000;

/// Most bytes of detail; without it the words have to do.
const DETAIL: usize = 4_096;

/// A decision as it is written down, and shown to whoever asks why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, derive_more::Display)]
#[display("height {}: {}", self.height, self.words)]
pub struct Record {
    /// Its place in the journal.
    #[serde(default)]
    pub sequence: u64,
    /// Height of the newest block then.
    pub height: u64,
    /// Its time, in seconds since 1970.
    pub time: u64,
    /// About what: an order, a deployment, or the provider, as text.
    pub subject: String,
    /// A name of what was decided that does not change.
    pub kind: String,
    pub words: String,
    /// What mattered, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<serde_json::Value>,
}

impl Record {
    pub(super) fn new(sequence: u64, entry: &Entry) -> Self {
        let detail = detail(&entry.decision)
            .filter(|detail| serde_json::to_vec(detail).is_ok_and(|bytes| bytes.len() <= DETAIL));
        Self {
            sequence,
            height: entry.height,
            time: entry.time.unix(),
            subject: entry.subject.to_string(),
            kind: kind(&entry.decision).to_owned(),
            words: shortened(&entry.decision.to_string()),
            detail,
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // Numbers, texts and a JSON value always have a JSON form.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(super) fn read(sequence: u64, bytes: &[u8]) -> Result<Self, StoreError> {
        let read = serde_json::from_slice(bytes);
        let read: Self =
            read.map_err(|source| StoreError::Row { row: format!("entries/{sequence}"), source })?;
        Ok(Self { sequence, ..read })
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(WORDS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// A name of what was decided, for the journal and for metrics. Names do not change.
pub const fn kind(decision: &Decision) -> &'static str {
    match decision {
        Decision::Noticed => "noticed",
        Decision::Declined(_) => "declined",
        Decision::Reserved(_) => "reserved",
        Decision::Bid(_) => "bid",
        Decision::BidOpen { .. } => "bid_open",
        Decision::Failed { .. } => "failed",
        Decision::CloseBid(_) => "close_bid",
        Decision::Ended(_) => "ended",
        Decision::Won(_) => "won",
        Decision::Adopted { .. } => "adopted",
        Decision::Accepted { .. } => "accepted",
        Decision::Refused { .. } => "refused",
        Decision::Deploy => "deploy",
        Decision::DeployFailed { .. } => "deploy_failed",
        Decision::Healthy => "healthy",
        Decision::Unhealthy(_) => "unhealthy",
        Decision::Close(_) => "close",
        Decision::Spared { .. } => "spared",
        Decision::Reclaim => "reclaim",
        Decision::Teardown(_) => "teardown",
        Decision::Gone => "gone",
        Decision::Withdraw { .. } => "withdraw",
        Decision::Earned { .. } => "earned",
        Decision::Withheld(_) => "withheld",
        Decision::Moved(_) => "moved",
        Decision::Escrow { .. } => "escrow",
        Decision::Drift(_) => "drift",
        Decision::BreakerOpen { .. } => "breaker_open",
        Decision::BreakerShut => "breaker_shut",
        Decision::Maintenance(_) => "maintenance",
        Decision::Isolation(_) => "isolation",
        Decision::ClusterKnown { .. } => "cluster_known",
        Decision::ClusterUnknown { .. } => "cluster_unknown",
        Decision::Rival { .. } => "rival",
        Decision::Wallet { .. } => "wallet",
        Decision::Operator { .. } => "operator",
    }
}

/// What mattered, where words alone would have to be taken apart again.
pub(super) fn detail(decision: &Decision) -> Option<Value> {
    Some(match decision {
        Decision::Declined(reasons) => {
            json!({ "reasons": reasons.iter().map(Decline::code).collect::<Vec<_>>() })
        }
        Decision::Reserved(nodes) => json!({ "nodes": nodes }),
        Decision::Bid(price) | Decision::Won(price) => json!({ "price": money(price) }),
        Decision::BidOpen { price, created_at } => {
            json!({ "price": money(price), "created_at": created_at })
        }
        Decision::Failed { what, why } => json!({ "what": what, "why": why }),
        Decision::CloseBid(cause) => json!({ "cause": close_cause(*cause) }),
        Decision::Ended(ending) => json!({ "ending": ending_name(*ending) }),
        Decision::Adopted { version: Some(version) }
        | Decision::Accepted { version: Some(version) } => {
            json!({ "version": version.to_string() })
        }
        Decision::Unhealthy(health) => health_detail(health),
        Decision::Close(cause) | Decision::Spared { cause, .. } => {
            json!({ "cause": lease_cause(*cause), "reason": cause.reason().to_string() })
        }
        Decision::Teardown(evidence) => {
            let (first, confirmed) = evidence.heights();
            json!({ "state": evidence.state().to_string(), "heights": [first, confirmed] })
        }
        Decision::Earned { amount } => json!({ "amount": amount }),
        Decision::Withheld(names) => json!({ "hostnames": names }),
        Decision::Moved(name) => json!({ "hostnames": [name] }),
        Decision::Drift(drift) => json!({ "drift": drift.code() }),
        Decision::Maintenance(on) => json!({ "on": on }),
        Decision::Isolation(hold) => json!({ "hold": hold.as_ref().map(IsolationHold::code) }),
        Decision::ClusterKnown { uid, instead_of } => {
            json!({ "uid": uid.as_deref(), "instead_of": instead_of.as_deref() })
        }
        Decision::ClusterUnknown { uid, expected, .. } => {
            json!({ "uid": uid.as_deref(), "expected": expected.as_deref() })
        }
        Decision::Rival { order } => json!({ "order": order.to_string() }),
        Decision::Noticed
        | Decision::Adopted { version: None }
        | Decision::Accepted { version: None }
        | Decision::Refused { .. }
        | Decision::Deploy
        | Decision::DeployFailed { .. }
        | Decision::Healthy
        | Decision::Reclaim
        | Decision::Gone
        | Decision::Withdraw { .. }
        | Decision::Escrow { .. }
        | Decision::BreakerOpen { .. }
        | Decision::BreakerShut
        | Decision::Wallet { .. }
        | Decision::Operator { .. } => return None,
    })
}

fn money(coin: &DecCoin) -> Value {
    json!({ "denom": coin.denom().as_str(), "amount": coin.amount().to_string() })
}

const fn close_cause(cause: CloseCause) -> &'static str {
    match cause {
        CloseCause::TimedOut => "timed_out",
        CloseCause::OrderOver => "order_over",
        CloseCause::NoRoom => "no_room",
        CloseCause::Operator => "operator",
    }
}

const fn ending_name(ending: Ending) -> &'static str {
    match ending {
        Ending::Unknown => "unknown",
        Ending::OverBeforeBid => "over_before_bid",
        Ending::NotWon => "not_won",
        Ending::BidClosed => "bid_closed",
        Ending::OrderClosed => "order_closed",
        Ending::LeaseOver => "lease_over",
    }
}

const fn lease_cause(cause: LeaseCause) -> &'static str {
    match cause {
        LeaseCause::ManifestTimeout => "manifest_timeout",
        LeaseCause::ManifestLost => "manifest_lost",
        LeaseCause::Unhealthy => "unhealthy",
        LeaseCause::Unschedulable => "unschedulable",
        LeaseCause::Operator(_) => "operator",
    }
}

fn health_detail(health: &Health) -> Value {
    match health {
        Health::Healthy => json!({ "health": "healthy" }),
        Health::Unhealthy { service, ready, wanted, .. } => {
            json!({ "health": "unhealthy", "service": service, "ready": ready, "wanted": wanted })
        }
        Health::Unschedulable { service, .. } => {
            json!({ "health": "unschedulable", "service": service })
        }
        Health::Missing { service } => json!({ "health": "missing", "service": service }),
    }
}
