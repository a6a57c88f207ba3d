//! What the engine wants done.

use akash_types::{Coin, Intent, IntentId, LeaseId};

use crate::bidding::fees::BidFees;
use crate::bidding::pricing::ScriptRequest;
use crate::chain::{ChainQuery, QueryId};
use crate::cluster::command::Command;
use crate::cluster::recognition::ClusterUid;
use crate::escrow::WalletState;
use crate::input::{PriceId, RequestId};
use crate::journal::Entry;
use crate::manifest::{ManifestAnswer, MigrationAnswer};
use crate::reconcile::Drift;
use crate::time::Now;

/// Something to do. Effects of one call are in order; those of one subject never overtake each
/// other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Ask the chain.
    Query(QueryId, ChainQuery),
    /// Hand this to the transaction lane.
    Submit(Intent),
    /// The reason of this is gone: drop it if it was not sent.
    Forget(IntentId),
    /// Tell the cluster.
    Command(Command),
    /// Ask the price script.
    Script(PriceId, ScriptRequest),
    /// Keep this in the journal.
    Record(Entry),
    /// Let others know.
    Publish(Fact),
    /// Answer a request.
    Reply(RequestId, Reply),
    /// Call again with [`Input::Tick`](crate::Input::Tick) at this moment at the latest.
    WakeAt(Now),
}

/// An answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// To a manifest.
    Manifest(ManifestAnswer),
    /// To a migration of hostnames or endpoints.
    Migration(MigrationAnswer),
    /// It is under way, or done.
    Done,
    /// It cannot be done.
    Refused(String),
    /// Where views disagree.
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
    LeaseOver(LeaseId),
    /// Nothing is left of a lease.
    LeaseGone(LeaseId),
    /// What is reserved has changed.
    Inventory,
    /// Orders that are looked after, bids that are open, leases.
    Counts {
        /// Orders.
        orders: usize,
        /// Open bids.
        bids: usize,
        /// Leases.
        leases: usize,
    },
    /// A lease has earned.
    Earned {
        /// Which.
        lease: LeaseId,
        /// How much arrived.
        amount: Coin,
    },
    /// Whether bids can be paid for has changed.
    Wallet(WalletState),
    /// What bids have cost in fees today.
    BidFees(BidFees),
    /// Whether destruction is stopped.
    Breaker(bool),
    /// Whether maintenance is on.
    Maintenance(bool),
    /// The cluster is the one that leases were deployed to.
    ClusterKnown {
        /// Its uid, if it has one.
        uid: Option<ClusterUid>,
    },
    /// The cluster does not show what was deployed; why, in words.
    ClusterUnknown(String),
    /// The operator accepted a cluster that does not show what was deployed.
    ClusterAccepted {
        /// Its uid, if it has one.
        uid: Option<ClusterUid>,
    },
    /// The engine begins to write.
    Ready,
}
