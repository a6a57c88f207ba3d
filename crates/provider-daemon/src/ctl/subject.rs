//! What an operator means by a few characters: a lease, a deployment, a reason.

use akash_types::{DeploymentId, LeaseClosedReason, LeaseId, OrderId};
use provider_engine::engine::LeaseStatus;
use provider_engine::journal::Subject;

use super::wire::Response;

/// What `why` is asked about the provider itself.
pub(super) const PROVIDER: &str = "provider";

/// Names of the provider's reasons, as operators write them.
const REASONS: [(&str, LeaseClosedReason); 4] = [
    ("unstable", LeaseClosedReason::UNSTABLE),
    ("decommission", LeaseClosedReason::DECOMMISSION),
    ("unspecified", LeaseClosedReason::UNSPECIFIED),
    ("manifest-timeout", LeaseClosedReason::MANIFEST_TIMEOUT),
];

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a reason: give unstable, decommission, unspecified or manifest-timeout, or a \
     number from 10000 to 19999"
)]
pub struct ReasonNameError(String);

/// Reads the name or the number of a reason.
pub fn reason_from(text: &str) -> Result<LeaseClosedReason, ReasonNameError> {
    let named = REASONS.iter().find(|(name, _)| *name == text).map(|(_, reason)| *reason);
    let numbered = || LeaseClosedReason::provider(text.parse().ok()?).ok();
    named.or_else(numbered).ok_or_else(|| ReasonNameError(text.chars().take(64).collect()))
}

/// The lease that a text means: its id, the id of its order, or the number of its deployment if
/// that has but one.
pub(super) fn lease(text: &str, leases: &[LeaseStatus]) -> Result<LeaseId, Response> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let mut found = matching(text, leases)?.into_iter();
    match (found.next(), found.next()) {
        (Some(lease), None) => Ok(lease),
        (None, _) => Err(no_lease(text)),
        (Some(_), Some(_)) => Err(ambiguous(text)),
    }
}

/// The deployment that a text means: its id, a lease of it, or its number if one tenant has it.
pub(super) fn deployment(text: &str, leases: &[LeaseStatus]) -> Result<DeploymentId, Response> {
    if let Ok(id) = text.parse::<DeploymentId>() {
        return Ok(id);
    }
    if let Ok(id) = text.parse::<LeaseId>() {
        return Ok(id.deployment_id());
    }
    let mut found: Vec<DeploymentId> =
        matching(text, leases)?.iter().map(LeaseId::deployment_id).collect();
    found.dedup();
    match found.as_slice() {
        [deployment] => Ok(*deployment),
        [] => Err(no_lease(text)),
        _ => Err(ambiguous(text)),
    }
}

/// What a text may mean, before the provider is asked what it knows.
pub(super) enum Meant {
    Subject(Subject),
    /// Everything of deployments with this number.
    Number(u64),
}

/// What `why` is asked about.
pub(super) fn subject(text: &str) -> Result<Meant, Response> {
    let order = || text.parse::<OrderId>().ok();
    let lease = || text.parse::<LeaseId>().ok().map(|lease| lease.order_id());
    let meant = if text == PROVIDER {
        Some(Meant::Subject(Subject::Provider))
    } else if let Ok(number) = text.parse() {
        Some(Meant::Number(number))
    } else if let Ok(deployment) = text.parse() {
        Some(Meant::Subject(Subject::Deployment(deployment)))
    } else {
        order().or_else(lease).map(|order| Meant::Subject(Subject::Order(order)))
    };
    meant.ok_or_else(|| unreadable(text))
}

fn matching(text: &str, leases: &[LeaseStatus]) -> Result<Vec<LeaseId>, Response> {
    let ids = leases.iter().map(|lease| lease.id);
    if let Ok(number) = text.parse::<u64>() {
        return Ok(ids.filter(|lease| lease.dseq() == number).collect());
    }
    let order: OrderId = text.parse().map_err(|_| unreadable(text))?;
    Ok(ids.filter(|lease| lease.order_id() == order).collect())
}

const HINT: &str = "see `provider-services ctl leases`";

fn no_lease(text: &str) -> Response {
    Response::error(format!("the provider has no lease {text}"), HINT)
}

fn ambiguous(text: &str) -> Response {
    let hint =
        "give the whole id, owner/dseq/gseq/oseq/provider; see `provider-services ctl leases`";
    Response::error(format!("{text} is the number of several leases"), hint)
}

fn unreadable(text: &str) -> Response {
    let shown: String = text.chars().take(200).collect();
    let hint = "give the number of a deployment, owner/dseq/gseq/oseq, or a lease with /provider";
    Response::error(format!("{shown:?} names nothing"), hint)
}
