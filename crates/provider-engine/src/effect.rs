//! What the engine wants done.

use akash_types::{Coin, Intent, IntentId, LeaseClosedReason, LeaseId, LeaseState};

use crate::chain::{ChainQuery, QueryId};
use crate::cluster::command::Command;
use crate::cluster::recognition::ClusterUid;
use crate::escrow::WalletState;
use crate::input::{PriceId, RequestId};
use crate::journal::Entry;
use crate::manifest::{ManifestAnswer, MigrationAnswer};
use crate::order::fees::BidFees;
use crate::order::pricing::ScriptRequest;
use crate::reconcile::Drift;
use crate::time::Now;

/// Something to do. Effects of one call are in order; those of one subject never overtake each
/// other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    Query(QueryId, ChainQuery),
    /// Hand this to the transaction lane.
    Submit(Intent),
    /// The reason of this is gone: drop it if it was not sent.
    Forget(IntentId),
    Command(Command),
    Script(PriceId, ScriptRequest),
    /// Keep this in the journal.
    Record(Entry),
    Publish(Fact),
    Reply(RequestId, Reply),
    /// Call again with [`Input::Tick`](crate::Input::Tick) at this moment at the latest.
    WakeAt(Now),
}

/// An answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Manifest(ManifestAnswer),
    /// To a migration of hostnames or endpoints.
    Migration(MigrationAnswer),
    Done,
    /// It cannot be done.
    Refused(String),
    Drift(Vec<Drift>),
}

/// Something that others may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A lease of ours begins.
    LeaseStarted(LeaseId),
    /// The cluster has objects of a lease that it did not have before.
    LeaseDeployed(LeaseId),
    /// A lease of ours is over on chain.
    LeaseOver {
        lease: LeaseId,
        state: LeaseState,
        /// Why, if the chain says.
        reason: Option<LeaseClosedReason>,
    },
    /// Whether the escrow account of a lease can pay has changed.
    LeaseFunds {
        lease: LeaseId,
        /// Whether it cannot pay any more.
        dry: bool,
        /// First height that is not paid; `None` if there is none.
        dry_at: Option<u64>,
    },
    /// Nothing is left of a lease.
    LeaseGone(LeaseId),
    Earned {
        lease: LeaseId,
        amount: Coin,
    },
    /// Whether bids can be paid for has changed.
    Wallet(WalletState),
    /// What the provider's account can spend.
    Balance {
        /// One coin per denomination.
        coins: Vec<Coin>,
        height: u64,
    },
    /// What bids have cost in fees today.
    BidFees(BidFees),
    /// Whether destruction is stopped.
    Breaker(bool),
    /// The cluster is the one that leases were deployed to.
    ClusterKnown {
        uid: Option<ClusterUid>,
    },
    /// The cluster does not show what was deployed; why, in words.
    ClusterUnknown(String),
    /// The operator accepted a cluster that does not show what was deployed.
    ClusterAccepted {
        uid: Option<ClusterUid>,
    },
    /// The engine begins to write.
    Ready,
}
