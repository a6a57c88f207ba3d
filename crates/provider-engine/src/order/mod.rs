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
//! look. Whoever looks sees the order, the own bid and the own lease together, and [`classify`] says
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
pub(crate) mod history;
pub mod isolation;
pub mod policy;
pub mod pricing;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use akash_types::{
    BidState, DecCoin, Lease, LeaseClosedReason, LeaseState, Order, OrderState, ResourceOffer,
};

use crate::chain::Standing;
use crate::inventory::Booking;
use crate::order::decline::Decline;
use crate::order::evaluate::Evaluation;
use crate::order::pricing::ScriptRequest;
use crate::time::BlockTime;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
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
    Closing(CloseCause),
}

impl Stage {
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
    Evaluated(Evaluation),
    /// The script's price may be bid, with this offer.
    Priced(DecCoin, Vec<ResourceOffer>),
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
    TimeoutKnown(BlockTime),
    /// Something that matters for an evaluation has changed.
    Reevaluate,
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
    Evaluate(Arc<Order>),
    Reserve(Booking),
    RunScript(ScriptRequest),
    /// Hand a bid to the lane.
    Bid(DecCoin, Vec<ResourceOffer>),
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
pub enum Classification {
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

/// Classifies how we stand with an order. One bid per provider and order is all the chain ever
/// takes, so a bid in any state ends the bidding.
pub fn classify(standing: &Standing) -> Classification {
    let Standing { order, bid, lease } = standing;
    match lease.as_ref().map(|lease| lease.state) {
        Some(LeaseState::Active | LeaseState::Reclaiming) => return Classification::Leased,
        Some(LeaseState::Closed | LeaseState::InsufficientFunds) => {
            return Classification::Over(Ending::LeaseOver);
        }
        None => {}
    }
    let is_open = order.as_ref().is_some_and(|order| order.state == OrderState::Open);
    match bid.as_ref().map(|bid| bid.state) {
        Some(BidState::Open) if is_open => Classification::BidOpen,
        Some(BidState::Open) => Classification::BidLeftOver,
        Some(BidState::Active) => Classification::Unclear,
        Some(BidState::Lost) => Classification::Over(Ending::NotWon),
        // The end of an order closes the bids on it.
        Some(BidState::Closed) => match order.as_ref().map(|order| order.state) {
            Some(OrderState::Closed) => Classification::Over(Ending::OrderClosed),
            Some(OrderState::Open | OrderState::Active) | None => {
                Classification::Over(Ending::BidClosed)
            }
        },
        None if is_open => Classification::MayBid,
        None if order.is_none() => Classification::Over(Ending::Unknown),
        None => Classification::Over(Ending::OverBeforeBid),
    }
}

impl Stage {
    /// What follows from `input`: the next stage, and what to do.
    pub fn step(self, input: OrderInput) -> (Self, Vec<OrderAction>) {
        match (self, input) {
            (stage, OrderInput::Looked(standing, now)) => stage.looked(*standing, now),
            (stage, OrderInput::Hint | OrderInput::IntentEnded) => (stage, vec![OrderAction::Look]),

            (Self::Pending(order), OrderInput::Evaluated(evaluation)) => {
                Self::evaluated(order, evaluation)
            }
            (Self::Pricing(order), OrderInput::Unfit(reasons)) => {
                (Self::Declined(order, reasons), vec![])
            }
            (Self::Pricing(order), OrderInput::Priced(price, offer)) => {
                (Self::Bidding(order, price.clone()), vec![OrderAction::Bid(price, offer)])
            }
            (Self::Bidding(order, _), OrderInput::BidRefused(reason)) => {
                (Self::Declined(order, vec![reason]), vec![OrderAction::Look])
            }
            (
                Self::Declined(order, _) | Self::Pending(order) | Self::Pricing(order),
                OrderInput::Reevaluate,
            ) => Self::pending(order),

            (Self::Open(bid), OrderInput::TimeoutKnown(deadline)) => {
                (Self::Open(OpenBid { deadline: Some(deadline), ..bid }), vec![])
            }
            // A bid is closed only after a lease was looked for: the tenant may have chosen it in
            // the block that made it late.
            (Self::Open(bid), OrderInput::Deadline) => (Self::Open(bid), vec![OrderAction::Look]),
            // Adopted, and there is no room: nothing is won that could not be run.
            (Self::Open(_), OrderInput::Unfit(_)) => Self::closing(CloseCause::NoRoom),
            (Self::Open(_), OrderInput::CloseBid) => Self::closing(CloseCause::Operator),

            (stage, _) => (stage, vec![]),
        }
    }

    fn pending(order: Arc<Order>) -> (Self, Vec<OrderAction>) {
        (Self::Pending(Arc::clone(&order)), vec![OrderAction::Evaluate(order)])
    }

    fn evaluated(order: Arc<Order>, evaluation: Evaluation) -> (Self, Vec<OrderAction>) {
        match evaluation {
            Evaluation::Bid { reservation, offer, price } => {
                let bid = OrderAction::Bid(price.clone(), offer);
                (Self::Bidding(order, price), vec![OrderAction::Reserve(reservation), bid])
            }
            Evaluation::AskScript { reservation, request, .. } => {
                let ask = OrderAction::RunScript(request);
                (Self::Pricing(order), vec![OrderAction::Reserve(reservation), ask])
            }
            Evaluation::Decline(reasons) => (Self::Declined(order, reasons), vec![]),
        }
    }

    fn closing(cause: CloseCause) -> (Self, Vec<OrderAction>) {
        (Self::Closing(cause), vec![OrderAction::CloseBid(cause)])
    }

    fn looked(self, mut standing: Standing, now: Circumstances) -> (Self, Vec<OrderAction>) {
        let class = classify(&standing);
        match (class, self) {
            (Classification::Leased, stage) => {
                let order = stage.order().cloned().or(standing.order.take().map(Arc::new));
                let won = standing.lease.take();
                let won = won.map(|lease| OrderAction::Won(Box::new(lease), order));
                (stage, won.into_iter().collect())
            }
            (Classification::Unclear, stage) => (stage, vec![OrderAction::Look]),

            // Whatever else is true, what the lane still has may land.
            (Classification::Over(_), Self::Bidding(..) | Self::Abandoned) if now.pending => {
                (Self::Abandoned, vec![OrderAction::Forget])
            }
            (Classification::Over(ending), stage) => (stage, vec![OrderAction::End(ending)]),

            (Classification::BidLeftOver | Classification::BidOpen, Self::Closing(cause)) => {
                Self::closing(cause)
            }
            (Classification::BidLeftOver, _) => Self::closing(CloseCause::OrderOver),
            (Classification::BidOpen, Self::Open(bid)) => match bid.deadline {
                Some(deadline) if deadline <= now.time => Self::closing(CloseCause::TimedOut),
                _ => (Self::Open(bid), vec![]),
            },
            (Classification::BidOpen, stage) => stage.bid_found(standing),

            (Classification::MayBid, Self::Bidding(order, _)) if !now.pending => {
                Self::pending(order)
            }
            (Classification::MayBid, Self::Seen | Self::Abandoned) if !now.pending => {
                match standing.order.take() {
                    Some(order) => Self::pending(Arc::new(order)),
                    None => (Self::Seen, vec![OrderAction::End(Ending::Unknown)]),
                }
            }
            // The bid that was to be closed does not exist: nothing to close, nothing to hold.
            (Classification::MayBid, stage @ Self::Closing(_)) if !now.pending => {
                (stage, vec![OrderAction::End(Ending::OverBeforeBid)])
            }
            (Classification::MayBid, stage) => (stage, vec![]),
        }
    }

    /// Our bid is open on chain, and we were not yet sure of it.
    fn bid_found(self, standing: Standing) -> (Self, Vec<OrderAction>) {
        let known = self.order().cloned();
        let order = known.or(standing.order.map(Arc::new));
        let (Some(order), Some(bid)) = (order, standing.bid) else {
            return (self, vec![OrderAction::Look]);
        };
        if matches!(self, Self::Abandoned) {
            return Self::closing(CloseCause::OrderOver);
        }
        let (price, created_at) = (bid.price, bid.created_at);
        let open = OpenBid { order, price, created_at, deadline: None };
        let actions = vec![OrderAction::Adopt(open.clone()), OrderAction::AskTimeout(created_at)];
        (Self::Open(open), actions)
    }
}
