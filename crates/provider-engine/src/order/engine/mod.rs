//! Orders: their steps, and what they want done.

mod evaluate;

use std::sync::Arc;

use akash_types::{Action, BidOffer, DecCoin, Deposit, Intent, Order, OrderId};

use crate::chain::ChainQuery;
use crate::effect::Effect;
use crate::engine::wishes::{Made, Wish};
use crate::engine::{Alarm, Engine, Stage};
use crate::journal::{Decision, Subject};
use crate::order::{self, CloseCause, Ending, OpenBid, OrderAction, OrderInput};

pub use evaluate::{Screened, WouldBid};

impl Engine {
    pub(crate) fn step_order(&mut self, order: OrderId, input: OrderInput) {
        let stepped = self.records.update(order, |record| {
            let Stage::Order(stage) = &mut record.stage else { return None };
            let before = stage.name();
            let (next, actions) = std::mem::replace(stage, order::Stage::Seen).step(input);
            let declined = match &next {
                order::Stage::Declined(_, reasons) if before != "declined" => Some(reasons.clone()),
                _ => None,
            };
            *stage = next;
            Some((declined, actions))
        });
        let Some((declined, actions)) = stepped.flatten() else { return };
        if let Some(reasons) = declined {
            // An order that gets no bid keeps nothing from others.
            self.release(order);
            self.note_order(order, Decision::Declined(reasons));
        }
        for action in actions {
            self.act_for_order(order, action);
        }
    }

    fn act_for_order(&mut self, order: OrderId, action: OrderAction) {
        match action {
            OrderAction::Look => {
                self.asks.drop(&ChainQuery::Order(order));
                self.ask(ChainQuery::Standing(order));
            }
            OrderAction::Evaluate(known) => self.evaluate_order(order, &known),
            OrderAction::Reserve(booking) => {
                let nodes = booking.units.iter().flat_map(|unit| &unit.plan);
                let nodes = nodes.map(|(node, count)| format!("{node} ({count})")).collect();
                self.note_order(order, Decision::Reserved(nodes));
                self.keep(order, booking);
            }
            OrderAction::RunScript(request) => self.run_script(order, request),
            OrderAction::Bid(known, price) => self.bid(order, &known, price),
            OrderAction::Forget => {
                if let Some(id) = self.wishes.under_way(Wish::Bid(order)) {
                    self.out.push(Effect::Forget(id));
                }
            }
            OrderAction::Adopt(bid) => self.adopt_bid(order, &bid),
            OrderAction::AskTimeout(height) => {
                if self.settings.bid_timeout.is_some() {
                    self.ask_time(order, height);
                }
            }
            OrderAction::CloseBid(cause) => self.close_bid(order, cause),
            OrderAction::Won(lease, known) => self.become_lease(order, &lease, known),
            OrderAction::End(ending) => self.end_order(order, ending),
        }
    }

    /// Hands a bid to the lane.
    fn bid(&mut self, order: OrderId, known: &Arc<Order>, price: DecCoin) {
        let made = self.wishes.make(self.now, Wish::Bid(order));
        let id = match made {
            Made::Now(id) => id,
            Made::Already => return,
            Made::NotBefore(moment) => return self.alarms.set(Alarm::Again(order), moment),
        };
        let booking = self.records.get(order).and_then(|record| record.booking.as_ref());
        let offer = booking.map(|booking| booking.offer(&known.spec)).unwrap_or_default();
        self.signed.insert(order, self.head.height());
        self.note_order(order, Decision::Bid(price.clone()));
        let deposit = Deposit::from_balance(self.settings.bid_deposit.clone());
        let offer = BidOffer {
            id: order.bid_id(self.settings.provider),
            price,
            deposit,
            resources_offer: offer,
            reclamation_window: self.settings.reclamation_window,
        };
        let action = Action::CreateBid(Box::new(offer));
        self.out.push(Effect::Submit(Intent::new(id, action, self.head.height())));
    }

    fn close_bid(&mut self, order: OrderId, cause: CloseCause) {
        // Room that is missing in a cluster that is not known proves nothing.
        let may_close = self.may_act() || cause != CloseCause::NoRoom;
        if !self.start.ready || !may_close {
            // Put off; looked at again when everything is known.
            return;
        }
        match self.wishes.make(self.now, Wish::Close(order)) {
            Made::Now(id) => {
                self.note_order(order, Decision::CloseBid(cause));
                let bid = order.bid_id(self.settings.provider);
                let action = Action::CloseBid { bid, reason: cause.reason() };
                self.out.push(Effect::Submit(Intent::new(id, action, self.head.height())));
            }
            Made::Already => {}
            Made::NotBefore(moment) => self.alarms.set(Alarm::Again(order), moment),
        }
    }

    fn adopt_bid(&mut self, order: OrderId, bid: &OpenBid) {
        let (price, created_at) = (bid.price.clone(), bid.created_at);
        self.note_order(order, Decision::BidOpen { price, created_at });
        self.book_open_bid(order);
    }

    pub(crate) fn end_order(&mut self, order: OrderId, ending: Ending) {
        self.note_order(order, Decision::Ended(ending));
        if matches!(ending, Ending::NotWon | Ending::BidClosed | Ending::LeaseOver) {
            self.spent.insert(order);
        }
        self.remove(order);
    }

    /// Removes a record and everything that waits for it.
    pub(crate) fn remove(&mut self, order: OrderId) {
        self.release(order);
        self.records.remove(order);
        self.unlooked.remove(&order);
        self.deadlines.clear(&order);
        self.alarms.clear(&Alarm::Again(order));
        self.alarms.clear(&Alarm::Check(order));
        self.asks.drop(&ChainQuery::Standing(order));
        self.asks.drop(&ChainQuery::Order(order));
        self.wishes.forget(order);
        self.journal.end(Subject::Order(order));
    }

    /// Everything is known now: what was put off is done.
    pub(crate) fn became_ready(&mut self, order: OrderId) {
        match self.records.stage(order) {
            Some(Stage::Order(order::Stage::Pending(_) | order::Stage::Declined(..))) => {
                self.step_order(order, OrderInput::Reevaluate);
            }
            Some(Stage::Order(order::Stage::Open(_))) => self.book_open_bid(order),
            Some(Stage::Order(order::Stage::Closing(_))) => self.again(order),
            Some(Stage::Lease(_)) => self.lease_ready(order),
            _ => {}
        }
    }
}
