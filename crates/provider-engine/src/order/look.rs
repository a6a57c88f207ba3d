//! What order, bid and lease mean together.

use akash_types::{BidState, LeaseState, OrderState};

use crate::chain::Standing;

use super::Ending;

/// How we stand with an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// It is open and we may bid: there never was a bid of ours on it.
    MayBid,
    /// Our bid is open, and so is the order.
    BidOpen,
    /// Our bid is open on an order that is over: only we can get its deposit back.
    BidLeftOver,
    /// We have a lease.
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
