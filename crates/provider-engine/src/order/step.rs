//! The transitions.

use std::sync::Arc;

use akash_types::Order;

use crate::chain::Standing;
use crate::order::evaluate::Evaluation;

use super::{
    Circumstances, CloseCause, Ending, OpenBid, OrderAction, OrderInput, Sight, Stage, look,
};

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
            (Self::Pricing(order), OrderInput::Priced(price)) => {
                let bid = OrderAction::Bid(Arc::clone(&order), price.clone());
                (Self::Bidding(order, price), vec![bid])
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
            Evaluation::Bid { reservation, price } => {
                let bid = OrderAction::Bid(Arc::clone(&order), price.clone());
                (Self::Bidding(order, price), vec![OrderAction::Reserve(reservation), bid])
            }
            Evaluation::AskScript { reservation, request } => {
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
        let sight = look(&standing);
        match (sight, self) {
            (Sight::Leased, stage) => {
                let order = stage.order().cloned().or(standing.order.take().map(Arc::new));
                let won = standing.lease.take();
                let won = won.map(|lease| OrderAction::Won(Box::new(lease), order));
                (stage, won.into_iter().collect())
            }
            (Sight::Unclear, stage) => (stage, vec![OrderAction::Look]),

            // Whatever else is true, what the lane still has may land.
            (Sight::Over(_), Self::Bidding(..) | Self::Abandoned) if now.pending => {
                (Self::Abandoned, vec![OrderAction::Forget])
            }
            (Sight::Over(ending), stage) => (stage, vec![OrderAction::End(ending)]),

            (Sight::BidLeftOver | Sight::BidOpen, Self::Closing(cause)) => Self::closing(cause),
            (Sight::BidLeftOver, _) => Self::closing(CloseCause::OrderOver),
            (Sight::BidOpen, Self::Open(bid)) => match bid.deadline {
                Some(deadline) if deadline <= now.time => Self::closing(CloseCause::TimedOut),
                _ => (Self::Open(bid), vec![]),
            },
            (Sight::BidOpen, stage) => stage.bid_found(standing),

            (Sight::MayBid, Self::Bidding(order, _)) if !now.pending => Self::pending(order),
            (Sight::MayBid, Self::Seen | Self::Abandoned) if !now.pending => {
                match standing.order.take() {
                    Some(order) => Self::pending(Arc::new(order)),
                    None => (Self::Seen, vec![OrderAction::End(Ending::Unknown)]),
                }
            }
            // The bid that was to be closed does not exist: nothing to close, nothing to hold.
            (Sight::MayBid, stage @ Self::Closing(_)) if !now.pending => {
                (stage, vec![OrderAction::End(Ending::OverBeforeBid)])
            }
            (Sight::MayBid, stage) => (stage, vec![]),
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
