//! The decisions.

use std::fmt;

use akash_sdl::Version;
use akash_types::{DecCoin, OrderId};

use crate::cluster::recognition::{ClusterUid, UnknownCluster};
use crate::lease::{Health, LeaseCause};
use crate::order::decline::Decline;
use crate::order::isolation::IsolationHold;
use crate::order::{CloseCause, Ending};
use crate::reconcile::{Drift, Evidence};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Noticed,
    Declined(Vec<Decline>),
    /// It fits, on these nodes.
    Reserved(Vec<String>),
    /// A bid at this price was handed to the lane.
    Bid(DecCoin),
    /// The bid is open since this height.
    BidOpen {
        price: DecCoin,
        created_at: u64,
    },
    /// What was handed to the lane did not happen.
    Failed {
        what: &'static str,
        /// What the chain or the lane said.
        why: String,
    },
    CloseBid(CloseCause),
    Ended(Ending),
    /// We have a lease at this price.
    Won(DecCoin),
    /// It was found in the cluster and goes on as it is.
    Adopted {
        /// Hash of its manifest, if known.
        version: Option<Version>,
    },
    /// The tenant's manifest is held.
    Accepted {
        version: Option<Version>,
    },
    /// The tenant's manifest was refused.
    Refused {
        /// What the tenant was told.
        why: String,
    },
    /// The cluster was told to run it.
    Deploy,
    /// The cluster did not.
    DeployFailed {
        why: String,
    },
    Healthy,
    /// Something does not.
    Unhealthy(Health),
    Close(LeaseCause),
    /// It ought to be closed, and is not.
    Spared {
        /// Why it ought to be.
        cause: LeaseCause,
        why: SpareReason,
    },
    /// Its end was announced.
    Reclaim,
    /// It is torn down.
    Teardown(Evidence),
    /// Nothing is left of it.
    Gone,
    /// Its earnings are collected.
    Withdraw {
        why: String,
    },
    Earned {
        amount: String,
    },
    /// Hostnames that it asks for lead to another lease of the owner, until they are moved.
    Withheld(Vec<String>),
    /// A hostname leads to it now.
    Moved(String),
    /// What the balance checker has to say.
    Escrow {
        what: String,
    },
    /// Chain, cluster and engine disagree.
    Drift(Drift),
    /// All destruction stops, and why.
    BreakerOpen {
        why: String,
    },
    /// Destruction may go on.
    BreakerShut,
    /// No bids and no closes, by the operator.
    Maintenance(bool),
    /// Why there are no bids until tenants are known to be kept apart, or that they are.
    Isolation(Option<IsolationHold>),
    /// The cluster is the one that leases were deployed to.
    ClusterKnown {
        uid: Option<ClusterUid>,
        /// The one that was known before, if it was another.
        instead_of: Option<ClusterUid>,
    },
    /// The cluster does not show what was deployed: nothing is closed, bid, deployed, withdrawn or
    /// torn down.
    ClusterUnknown {
        why: UnknownCluster,
        uid: Option<ClusterUid>,
        /// The one that was known before, if any.
        expected: Option<ClusterUid>,
    },
    /// A bid of this provider was signed by another process: no closes are proposed for a day.
    Rival {
        order: OrderId,
    },
    /// The own wallet cannot pay, or can again.
    Wallet {
        state: String,
    },
    /// The operator asked for something.
    Operator {
        what: String,
    },
}

/// Why a lease is not closed although it ought to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpareReason {
    /// The circuit breaker is open.
    Breaker,
    /// Another provider with the same key acts.
    Rival,
    /// No lease created earlier had objects in the cluster all the time.
    NoWitness,
}

impl fmt::Display for SpareReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Breaker => "too many are bad at once",
            Self::Rival => "another provider with the same key acts",
            Self::NoWitness => {
                "no older lease shows that this cluster would have it; \
                 `ctl lease close --lost` closes it"
            }
        })
    }
}

fn uid_or_none(uid: Option<&ClusterUid>) -> &str {
    uid.map_or("(no uid)", |uid| uid)
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Noticed => f.write_str("the order was noticed"),
            Self::Declined(reasons) => {
                f.write_str("no bid:")?;
                for (index, reason) in reasons.iter().enumerate() {
                    write!(f, "{} {reason}", if index == 0 { "" } else { ";" })?;
                }
                Ok(())
            }
            Self::Reserved(nodes) => write!(f, "it fits, on {}", nodes.join(", ")),
            Self::Bid(price) => write!(f, "bid {price} per block"),
            Self::BidOpen { price, created_at } => {
                write!(f, "our bid of {price} is open since height {created_at}")
            }
            Self::Failed { what, why } => write!(f, "{what} did not happen: {why}"),
            Self::CloseBid(cause) => write!(f, "close our bid: {}", cause.words()),
            Self::Ended(ending) => write!(f, "over: {}", ending.words()),
            Self::Won(price) => write!(f, "we have the lease, at {price} per block"),
            Self::Adopted { version } => {
                f.write_str("found in the cluster, left as it is")?;
                version.iter().try_for_each(|version| write!(f, " (manifest {version})"))
            }
            Self::Accepted { version } => {
                f.write_str("the manifest is held")?;
                version.iter().try_for_each(|version| write!(f, " ({version})"))
            }
            Self::Refused { why } => write!(f, "the manifest was refused: {why}"),
            Self::Deploy => f.write_str("deploy"),
            Self::DeployFailed { why } => write!(f, "deploying failed: {why}"),
            Self::Healthy => f.write_str("everything runs"),
            Self::Unhealthy(health) => write!(f, "unhealthy: {health}"),
            Self::Close(cause) => write!(f, "close the lease: {cause}"),
            Self::Spared { cause, why } => write!(f, "not closed although {cause}: {why}"),
            Self::Reclaim => f.write_str("announce the end of the lease"),
            Self::Teardown(evidence) => write!(f, "tear down: {evidence}"),
            Self::Gone => f.write_str("nothing is left of it"),
            Self::Withdraw { why } => write!(f, "collect earnings: {why}"),
            Self::Earned { amount } => write!(f, "received {amount}"),
            Self::Withheld(names) => {
                write!(f, "{} lead to another lease of the owner", names.join(", "))
            }
            Self::Moved(name) => write!(f, "{name} leads to it from now on"),
            Self::Escrow { what } => f.write_str(what),
            Self::Drift(drift) => write!(f, "drift: {drift}"),
            Self::BreakerOpen { why } => write!(f, "all destruction stops: {why}"),
            Self::BreakerShut => f.write_str("destruction may go on"),
            Self::Maintenance(true) => f.write_str("maintenance begins: no bids, no closes"),
            Self::Maintenance(false) => f.write_str("maintenance ends"),
            Self::Isolation(Some(hold)) => write!(f, "no new bids: {hold}"),
            Self::Isolation(None) => f.write_str("tenants are isolated: bidding goes on"),
            Self::ClusterKnown { uid, instead_of } => {
                write!(f, "cluster {} is known", uid_or_none(uid.as_ref()))?;
                instead_of.iter().try_for_each(|before| write!(f, ", instead of {before}"))
            }
            Self::ClusterUnknown { why, uid, expected } => {
                write!(f, "cluster {} is unknown: {why}", uid_or_none(uid.as_ref()))?;
                expected.iter().try_for_each(|expected| write!(f, " Expected {expected}."))?;
                f.write_str(
                    " Nothing is closed, bid, deployed, withdrawn or torn down; \
                     if it is the right cluster: `ctl cluster accept`",
                )
            }
            Self::Rival { order } => write!(
                f,
                "another provider with the same key bid on order {order}: no closes for a day"
            ),
            Self::Wallet { state } => write!(f, "wallet: {state}"),
            Self::Operator { what } => write!(f, "the operator: {what}"),
        }
    }
}
