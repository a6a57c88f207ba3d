//! What mattered in a decision, as JSON. Money is text, as everywhere.

use akash_types::DecCoin;
use provider_engine::journal::Decision;
use provider_engine::lease::{Health, LeaseCause};
use provider_engine::order::decline::Decline;
use provider_engine::order::isolation::IsolationHold;
use provider_engine::order::{CloseCause, Ending};
use serde_json::{Value, json};

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
