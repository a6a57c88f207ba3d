//! Blocks: where the chain is, and where to look.

use akash_types::{ChainEvent, LeaseId, OrderId};

use crate::chain::ChainQuery;
use crate::engine::{Engine, Stage, Timer};
use crate::input::Block;
use crate::journal::{Decision, Subject};
use crate::lease::LeaseInput;
use crate::order::{Ending, OrderInput};
use crate::time::BlockTime;

impl Engine {
    pub(crate) fn block(&mut self, block: &Block) {
        if !self.head.advance(block.height, block.time) {
            return;
        }
        self.market.bid_fees.roll(block.time);
        self.count_sight();
        self.ask_what_waited();
        for event in &block.events {
            self.event(event);
        }
        while let Some(order) = self.schedule.deadlines.pop(self.head.time()) {
            self.deadline(order);
        }
        self.escrow_block();
        self.check_ready();
    }

    pub(crate) fn resync(&mut self, height: u64, time: BlockTime) {
        self.head.advance(height, time);
        self.market.bid_fees.roll(self.head.time());
        self.count_sight();
        self.ask_what_waited();
        self.reconcile_soon();
        self.check_ready();
    }

    /// Asks what could not be answered at a lower height.
    fn ask_what_waited(&mut self) {
        for query in self.queries.reached(self.head.height()) {
            self.ask(query);
        }
    }

    /// An event says where to look, and nothing else. Only an order that holds nothing is let go
    /// on the event alone: if that was wrong, the next comparison finds it again.
    fn event(&mut self, event: &ChainEvent) {
        let own = self.settings.provider;
        match event {
            ChainEvent::OrderCreated { id } => self.order_created(*id),
            ChainEvent::OrderClosed { id } => self.order_over(*id),
            ChainEvent::LeaseCreated { id, .. } if id.provider() == own => self.look_at(*id),
            ChainEvent::LeaseCreated { id, .. } => self.order_over(id.order_id()),
            ChainEvent::BidCreated { id, .. } if id.provider() == own => {
                self.bid_appeared(id.order_id(), self.head.height());
            }
            ChainEvent::BidCreated { id, .. } => {
                self.records.update(id.order_id(), |record| {
                    record.foreign_bids = record.foreign_bids.saturating_add(1);
                });
            }
            ChainEvent::BidClosed { id } if id.provider() == own => self.hint(id.order_id()),
            ChainEvent::LeaseClosed { id, .. } | ChainEvent::LeaseReclaimStarted { id, .. }
                if id.provider() == own =>
            {
                self.look_at(*id);
            }
            ChainEvent::ProviderCreated { owner }
            | ChainEvent::ProviderUpdated { owner }
            | ChainEvent::ProviderDeleted { owner }
            | ChainEvent::TrustedAuditorCreated { owner, .. }
            | ChainEvent::TrustedAuditorDeleted { owner, .. }
                if *owner == own =>
            {
                self.ask(ChainQuery::Provider);
            }
            _ => {}
        }
    }

    /// A bid of ours came into a block: one that this process did not sign shows a rival.
    pub(crate) fn bid_appeared(&mut self, order: OrderId, height: u64) {
        let rival = &mut self.reconciliation.rival;
        if !self.bids.is_signed(order) && rival.bid(height, self.head.time()) {
            self.note(Subject::Provider, Decision::Rival { order });
        }
    }

    fn order_created(&mut self, order: OrderId) {
        if self.records.contains(order) {
            return self.hint(order);
        }
        self.notice(order);
        self.ask(ChainQuery::Order(order));
    }

    pub(crate) fn notice(&mut self, order: OrderId) {
        self.records.insert(order);
        self.journal.revive(Subject::Order(order));
        self.note_order(order, Decision::Noticed);
    }

    fn order_over(&mut self, order: OrderId) {
        let Some(record) = self.records.get(order) else { return };
        match &record.stage {
            Stage::Order(stage) if !stage.has_bid() => {
                self.queries.forget(&ChainQuery::Order(order));
                self.queries.forget(&ChainQuery::Standing(order));
                self.end_order(order, Ending::OverBeforeBid);
            }
            _ => self.hint(order),
        }
    }

    /// Something happened to an order or lease that is looked after.
    pub(crate) fn hint(&mut self, order: OrderId) {
        match self.records.stage(order) {
            Some(Stage::Order(_)) => self.step_order(order, OrderInput::Hint),
            Some(Stage::Lease(_)) => self.step_lease(order, LeaseInput::Hint),
            None => {}
        }
    }

    /// Something happened to a lease of ours, known or not.
    pub(crate) fn look_at(&mut self, lease: LeaseId) {
        let order = lease.order_id();
        if !self.records.contains(order) {
            self.notice(order);
        }
        self.hint(order);
    }

    fn deadline(&mut self, order: OrderId) {
        match self.records.stage(order) {
            Some(Stage::Order(_)) => self.step_order(order, OrderInput::Deadline),
            Some(Stage::Lease(_)) => self.lease_deadline(order),
            None => {}
        }
    }

    pub(crate) fn reconcile_soon(&mut self) {
        self.schedule.timers.set(Timer::Reconcile, self.now);
    }
}
