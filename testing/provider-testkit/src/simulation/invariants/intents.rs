//! One effect for each intent, bids within bounds, no withdrawal after the end.

use std::time::Duration;

use akash_chain::tx::TxHash;
use akash_devnet::node::Block;
use akash_types::{Action, Intent, IntentId, OrderId};
use provider_engine::Effect;
use provider_engine::engine::Record;
use provider_engine::journal::{Decision, Subject};

use super::Watch;
use crate::simulation::world::Process;

impl Watch {
    pub(super) fn submitted(&mut self, intent: &Intent, process: &Process, now: Duration) {
        let key = (process.number, intent.id);
        if self.intents.insert(key, (intent.action.clone(), now)).is_some() {
            self.found(6, format!("intent {} is handed over twice", intent.id));
        }
        match &intent.action {
            Action::CreateBid(offer) => {
                let order = offer.id.order_id();
                let most = self.specs.get(&order).and_then(|spec| spec.total_price().ok());
                if most.is_some_and(|most| offer.price.amount() > most.amount()) {
                    self.found(7, format!("the bid on {order} is above what the order pays"));
                }
                let floor = akash_types::Dec::checked_from_int(crate::simulation::scenario::FLOOR);
                if floor.is_some_and(|floor| offer.price.amount() < floor) {
                    self.found(7, format!("the bid on {order} is below the floor"));
                }
                self.bid_fits(&process.engine, order);
            }
            Action::Withdraw { lease } => {
                let order = lease.order_id();
                let record = process.engine.records().find(|record| record.id == order);
                let alive = record.and_then(Record::lease).is_some_and(|lease| lease.is_alive());
                if !alive && !self.is_left_open(*lease) {
                    self.found(12, format!("a withdrawal for lease {lease}, known to be over"));
                }
            }
            _ => {}
        }
    }

    /// What the journal says was handed over was handed over.
    pub(super) fn journal_agrees(&mut self, effects: &[Effect]) {
        let has = |order: OrderId, is: fn(&Action) -> bool| {
            effects.iter().any(|effect| match effect {
                Effect::Submit(intent) => {
                    is(&intent.action) && order_of(&intent.action) == Some(order)
                }
                _ => false,
            })
        };
        let mut missing = Vec::new();
        for effect in effects {
            let Effect::Record(entry) = effect else { continue };
            let Subject::Order(order) = entry.subject else { continue };
            let agrees = match &entry.decision {
                Decision::Bid(_) => has(order, |action| matches!(action, Action::CreateBid(_))),
                Decision::CloseBid(_) => {
                    has(order, |action| matches!(action, Action::CloseBid { .. }))
                }
                Decision::Withdraw { .. } => {
                    has(order, |action| matches!(action, Action::Withdraw { .. }))
                }
                _ => true,
            };
            if !agrees {
                missing
                    .push(format!("{order}: {} was decided and not handed over", entry.decision));
            }
        }
        missing.into_iter().for_each(|text| self.found(6, text));
    }

    /// A transaction was signed for these.
    pub(crate) fn signed(&mut self, number: u64, hash: TxHash, intents: &[IntentId]) {
        self.signed.insert(hash, (number, intents.to_vec()));
    }

    /// A block holds transactions of ours.
    pub(super) fn included(&mut self, block: &Block) {
        let done = block.txs.iter().zip(&block.results).filter(|(_, result)| result.is_ok());
        for (tx, _) in done {
            let Some((number, intents)) = self.signed.get(&TxHash::of(tx)).cloned() else {
                continue;
            };
            for intent in intents {
                if !self.executed.insert((number, intent)) {
                    self.found(6, format!("intent {intent} of process {number} took effect twice"));
                }
            }
        }
    }

    /// Intents that nobody has ended for so long.
    pub(super) fn open_for(&self, long: Duration, now: Duration) -> Vec<String> {
        let old = self.intents.iter().filter(|(_, (_, since))| now.saturating_sub(*since) > long);
        old.map(|((_, id), (action, _))| format!("intent {id} has not ended: {action:?}")).collect()
    }
}

fn order_of(action: &Action) -> Option<OrderId> {
    match action {
        Action::CreateBid(offer) => Some(offer.id.order_id()),
        Action::CloseBid { bid, .. } => Some(bid.order_id()),
        Action::Withdraw { lease } | Action::StartReclaim { lease, .. } => Some(lease.order_id()),
        _ => None,
    }
}
