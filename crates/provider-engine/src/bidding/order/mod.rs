//! The life of an order, from the block that brought it to a lease or to nothing.
//!
//! ```text
//!            ┌──────────────── looked at ────────────────┐
//!            ▼                                           │ hint, deadline, intent ended
//!  Seen ─► Judged ─► Declined ◄─────────┐                │
//!            │          │ rejudged      │ no price       │
//!            │          ▼               │                │
//!            └──────► Pricing ──────────┴─► Bidding ─► Open ─► Closing ─► ended
//!                                             │                   ▲
//!                                             └─► Abandoned ──────┘ (the bid landed after all)
//! ```
//!
//! Every arrow that depends on the chain is taken after looking: an event is only a reason to
//! look. Whoever looks sees the order, the own bid and the own lease together, and [`look`] says
//! what that means, the same way in every stage. A lease found while looking ends the order's
//! life and begins the lease's.
//!
//! An order knows nothing of nodes, prices or transactions: it says what it wants done
//! ([`OrderAction`]) and is told how it went ([`OrderInput`]).

mod step;

use std::sync::Arc;

use akash_types::{BidState, DecCoin, Lease, LeaseClosedReason, LeaseState, Order, OrderState};

use crate::bidding::decline::Decline;
use crate::chain::Standing;
use crate::time::BlockTime;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    Seen,
    /// It is open and waits for what judging it takes: a view of the cluster, own attributes.
    Judged(Arc<Order>),
    /// No bid, and why. It is judged again when something that mattered changes.
    Declined(Arc<Order>, Vec<Decline>),
    /// Capacity is kept for it while somebody computes a price.
    Pricing(Arc<Order>),
    /// A bid was handed to the transaction lane.
    Bidding(Arc<Order>, DecCoin),
    /// A bid was handed to the transaction lane and is no longer wanted; it may land all the same.
    Abandoned,
    Open(OpenBid),
    Closing(CloseCause),
}

impl Stage {
    pub const NAMES: [&'static str; 8] =
        ["seen", "judged", "declined", "pricing", "bidding", "abandoned", "open", "closing"];

    /// Its name, for people and metrics.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Seen => "seen",
            Self::Judged(_) => "judged",
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
            Self::Judged(order)
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderInput {
    /// Somebody looked, at a height that counts.
    Looked(Box<Standing>, Circumstances),
    /// It was judged: capacity is kept for it, and a price is to be found.
    Fits,
    Unfit(Vec<Decline>),
    Priced(DecCoin),
    /// What was handed to the lane has ended, one way or another.
    IntentEnded,
    /// The chain does not want our bid, and would not want it again.
    BidRefused(Decline),
    /// Something happened that may concern it.
    Hint,
    /// Its deadline has passed in block time.
    Deadline,
    TimeoutKnown(BlockTime),
    /// Something that mattered when it was declined has changed.
    Rejudge,
    /// The operator wants the bid gone.
    CloseBid,
}

/// What else was true when somebody looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circumstances {
    pub time: BlockTime,
    /// Whether the lane still has something of ours for this order.
    pub pending: bool,
}

/// What an order wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderAction {
    Look,
    /// Judge it, and keep capacity for it if it fits.
    Judge(Arc<Order>),
    Price,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ending {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// It is open and we may bid: there never was a bid of ours on it.
    MayBid,
    BidOpen,
    /// Our bid is open on an order that is over: only we can get its deposit back.
    BidLeftOver,
    Leased,
    /// The bid has won and the lease was not there yet when it was read: look again.
    Unclear,
    Over(Ending),
}

/// Says how we stand. One bid per provider and order is all the chain ever takes, so a bid in any
/// state ends the bidding.
pub fn look(standing: &Standing) -> Sight {
    let Standing { order, bid, lease } = standing;
    match lease.as_ref().map(|lease| lease.state) {
        Some(LeaseState::Active | LeaseState::Reclaiming) => return Sight::Leased,
        Some(LeaseState::Closed | LeaseState::InsufficientFunds) => {
            return Sight::Over(Ending::LeaseOver);
        }
        None => {}
    }
    let is_open = order.as_ref().is_some_and(|order| order.state == OrderState::Open);
    match bid.as_ref().map(|bid| bid.state) {
        Some(BidState::Open) if is_open => Sight::BidOpen,
        Some(BidState::Open) => Sight::BidLeftOver,
        Some(BidState::Active) => Sight::Unclear,
        Some(BidState::Lost) => Sight::Over(Ending::NotWon),
        // The end of an order closes the bids on it.
        Some(BidState::Closed) => match order.as_ref().map(|order| order.state) {
            Some(OrderState::Closed) => Sight::Over(Ending::OrderClosed),
            Some(OrderState::Open | OrderState::Active) | None => Sight::Over(Ending::BidClosed),
        },
        None if is_open => Sight::MayBid,
        None if order.is_none() => Sight::Over(Ending::Unknown),
        None => Sight::Over(Ending::OverBeforeBid),
    }
}

#[cfg(test)]
mod tests;
