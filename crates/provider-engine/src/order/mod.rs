//! The life of an order, from the block that brought it to a lease or to nothing.
//!
//! ```text
//!            ┌──────────────── looked at ────────────────┐
//!            ▼                                           │ hint, deadline, intent ended
//!  Seen ─► Pending ◄─► Declined                          │
//!            │            ▲                              │
//!            ├─► Pricing ─┤ (only while a script runs)   │
//!            │            ▼                              │
//!            └────────► Bidding ──────────────────────► Open ─► Closing ─► ended
//!                         │                                       ▲
//!                         └─► Abandoned ──────────────────────────┘ (the bid landed after all)
//! ```
//!
//! Every arrow that depends on the chain is taken after looking: an event is only a reason to
//! look. Whoever looks sees the order, the own bid and the own lease together, and [`look`] says
//! what that means, the same way in every stage. A lease found while looking ends the order's
//! life and begins the lease's.
//!
//! Whether to bid, and at what price:
//!
//! ```text
//! Ask ─▶ policy, eligibility ─▶ placement ─▶ pricing ─┬─▶ check_price ─▶ Bid
//!            │ cheap first        │ room        │     └─▶ AskScript  │
//!            └────────────────────┴─────────────┴────────────────────┴──▶ Decline, with reasons
//! ```
//!
//! [`evaluate`](evaluate::evaluate) is one plain function for the bidder, for screening, for `why`
//! and for the journal: they cannot disagree.
//!
//! An order knows nothing of nodes, prices or transactions: it says what it wants done
//! ([`OrderAction`]) and is told how it went ([`OrderInput`]).

pub mod decline;
pub mod eligibility;
pub(crate) mod engine;
pub mod evaluate;
pub mod facts;
pub mod fees;
pub mod isolation;
mod look;
pub mod policy;
pub mod pricing;
mod step;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use akash_types::{DecCoin, Lease, LeaseClosedReason, Order};

pub use look::{Sight, look};

use crate::chain::Standing;
use crate::inventory::Booking;
use crate::order::decline::Decline;
use crate::order::evaluate::Evaluation;
use crate::order::pricing::ScriptRequest;
use crate::time::BlockTime;

/// Where an order is in its life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It is there; no more is known.
    Seen,
    /// It is open and waits for what an evaluation takes: a view of the cluster, own attributes.
    Pending(Arc<Order>),
    /// No bid, and why. It is evaluated again when something that mattered changes.
    Declined(Arc<Order>, Vec<Decline>),
    /// Capacity is reserved for it while a script computes the price.
    Pricing(Arc<Order>),
    /// A bid was handed to the transaction lane.
    Bidding(Arc<Order>, DecCoin),
    /// A bid was handed to the transaction lane and is no longer wanted; it may land all the same.
    Abandoned,
    Open(OpenBid),
    /// Our bid is to be closed.
    Closing(CloseCause),
}

impl Stage {
    /// Names of all stages, in order.
    pub const NAMES: [&'static str; 8] =
        ["seen", "judged", "declined", "pricing", "bidding", "abandoned", "open", "closing"];

    /// Its name, for people and metrics.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Seen => "seen",
            Self::Pending(_) => "judged",
            Self::Declined(..) => "declined",
            Self::Pricing(_) => "pricing",
            Self::Bidding(..) => "bidding",
            Self::Abandoned => "abandoned",
            Self::Open(_) => "open",
            Self::Closing(_) => "closing",
        }
    }

    /// The order itself, where the stage needs it.
    pub const fn order(&self) -> Option<&Arc<Order>> {
        match self {
            Self::Pending(order)
            | Self::Declined(order, _)
            | Self::Pricing(order)
            | Self::Bidding(order, _) => Some(order),
            Self::Open(bid) => Some(&bid.order),
            Self::Seen | Self::Abandoned | Self::Closing(_) => None,
        }
    }

    /// Whether a bid of ours is open, or may become so: such an order holds capacity.
    pub const fn has_bid(&self) -> bool {
        matches!(self, Self::Bidding(..) | Self::Abandoned | Self::Open(_) | Self::Closing(_))
    }
}

/// A bid of ours that waits for the tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenBid {
    pub order: Arc<Order>,
    /// What we ask for per block.
    pub price: DecCoin,
    /// Height at which it was made.
    pub created_at: u64,
    /// Block time after which it is closed; `None` if it may wait for ever, or until the time of
    /// its block is known.
    pub deadline: Option<BlockTime>,
}

/// Why our bid is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CloseCause {
    /// The tenant chose nobody in time.
    TimedOut,
    /// The order is over and the chain left our bid open, deposit and all.
    OrderOver,
    /// It was found after a restart and there is no room for it any more.
    NoRoom,
    /// The operator asked for it.
    Operator,
}

impl CloseCause {
    /// What the chain is told.
    pub const fn reason(self) -> LeaseClosedReason {
        LeaseClosedReason::UNSPECIFIED
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::TimedOut => "nobody chose it within the bid timeout",
            Self::OrderOver => "the order is over",
            Self::NoRoom => "there is no room for it any more",
            Self::Operator => "the operator asked for it",
        }
    }
}

/// What an order is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderInput {
    /// Somebody looked, at a height that counts.
    Looked(Box<Standing>, Circumstances),
    Evaluated(Evaluation),
    /// The script's price may be bid.
    Priced(DecCoin),
    /// There can be no bid, or the open one cannot be kept.
    Unfit(Vec<Decline>),
    /// What was handed to the lane has ended, one way or another.
    IntentEnded,
    /// The chain does not want our bid, and would not want it again.
    BidRefused(Decline),
    /// Something happened that may concern it.
    Hint,
    /// Its deadline has passed in block time.
    Deadline,
    /// It is known when its bid times out.
    TimeoutKnown(BlockTime),
    /// Something that matters for an evaluation has changed.
    Reevaluate,
    /// The operator wants the bid gone.
    CloseBid,
}

/// What else was true when somebody looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circumstances {
    /// Time of the newest block.
    pub time: BlockTime,
    /// Whether the lane still has something of ours for this order.
    pub pending: bool,
}

/// What an order wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderAction {
    /// Look at the chain.
    Look,
    Evaluate(Arc<Order>),
    Reserve(Booking),
    RunScript(ScriptRequest),
    /// Hand a bid to the lane.
    Bid(Arc<Order>, DecCoin),
    /// Drop the bid if it was not sent yet.
    Forget,
    /// Keep capacity for a bid that was found open.
    Adopt(OpenBid),
    /// Find out when the bid times out.
    AskTimeout(u64),
    /// Hand the closing of the bid to the lane, unless it has it already.
    CloseBid(CloseCause),
    /// It is a lease of ours now.
    Won(Box<Lease>, Option<Arc<Order>>),
    /// Nothing is left to do; what it held is free.
    End(Ending),
}

/// How an order ended for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ending {
    /// The chain has no such order.
    Unknown,
    /// It was closed, or somebody else won it, before we bid.
    OverBeforeBid,
    /// We bid, and another provider won.
    NotWon,
    /// Our bid was closed: by this process, or by somebody else with the same key.
    BidClosed,
    /// The order was closed while our bid was open.
    OrderClosed,
    LeaseOver,
}

impl Ending {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Unknown => "the chain has no such order",
            Self::OverBeforeBid => "it was over before we bid",
            Self::NotWon => "our bid did not win",
            Self::BidClosed => "our bid was closed",
            Self::OrderClosed => "the order was closed",
            Self::LeaseOver => "our lease from it is over",
        }
    }
}
