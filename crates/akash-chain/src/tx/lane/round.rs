//! One round: choose, simulate all at once, then broadcast one after the other.
//!
//! Simulation needs the sequence that the node's mempool waits for, so nothing is broadcast while
//! a round is simulated, and no round begins before every broadcast has its answer.

use akash_types::{Class, IntentId};

use super::super::SimulationRefusal;
use super::choose::Batch;
use super::config::GasSetting;
use super::effect::{Draft, Effect, TxRef};
use super::flight::{Flight, Look, Sent};
use super::gas_model::Kind;
use super::input::Simulated;
use super::machine::Lane;
use super::queue::Place;

#[derive(Debug, Default)]
pub(super) struct Round {
    plans: Vec<Plan>,
}

/// A transaction that is being simulated.
#[derive(Clone, Debug)]
struct Plan {
    tx: TxRef,
    class: Class,
    intents: Vec<IntentId>,
    /// Known once it was simulated.
    gas_limit: Option<u64>,
}

impl Lane {
    pub(super) fn go_on_with_round(&mut self) {
        if !self.sequence.is_settled()
            || !self.flights.all_answered()
            || self.flights.any_unknown()
            || self.holds.is_held(self.now)
        {
            return;
        }
        self.broadcast_if_planned();
        if self.round.is_none() && self.flights.all_answered() {
            let batches = self.choose();
            self.plan(batches);
            // With fixed gas there is nothing to simulate, and nothing to wait for.
            self.broadcast_if_planned();
        }
    }

    fn plan(&mut self, batches: Vec<Batch>) {
        if batches.is_empty() {
            return;
        }
        self.round = Some(Round::default());
        for batch in batches {
            self.plan_one(batch.class, batch.intents);
        }
    }

    fn plan_one(&mut self, class: Class, intents: Vec<IntentId>) {
        if intents.is_empty() {
            return;
        }
        let tx = self.new_ref();
        for id in &intents {
            self.queue.put(*id, Place::Planned(tx));
        }
        let gas_limit = match self.config.gas {
            GasSetting::Fixed(gas) => Some(gas),
            GasSetting::Auto(_) => {
                let guess = self.guess(&intents);
                let draft = self.draft(tx, self.sequence.next, intents.clone(), guess);
                self.effects.push(Effect::Simulate(draft));
                None
            }
        };
        if let Some(round) = &mut self.round {
            round.plans.push(Plan { tx, class, intents, gas_limit });
        }
    }

    fn guess(&self, intents: &[IntentId]) -> u64 {
        let kinds = intents.iter().filter_map(|id| Some(self.queue.get(*id)?.kind()));
        self.gas.guess(self.config.gas, kinds)
    }

    /// The kind of all of them, if it is one.
    pub(super) fn kind_of(&self, intents: &[IntentId]) -> Option<Kind> {
        let mut kinds = intents.iter().filter_map(|id| Some(self.queue.get(*id)?.kind()));
        let first = kinds.next()?;
        kinds.all(|kind| kind == first).then_some(first)
    }

    fn draft(&self, tx: TxRef, sequence: u64, intents: Vec<IntentId>, gas_limit: u64) -> Draft {
        let messages = intents.iter().filter_map(|id| Some(self.queue.get(*id)?.message.clone()));
        Draft {
            tx,
            sequence,
            messages: messages.collect(),
            intents,
            fee: self.fees.fee(&self.config, gas_limit),
            memo: self.config.memo.clone(),
            timeout_height: self.height.saturating_add(self.config.timeout_blocks),
        }
    }

    pub(super) fn simulated(&mut self, tx: TxRef, answer: Simulated) {
        let Some(round) = &mut self.round else { return };
        let Some(index) = round.plans.iter().position(|plan| plan.tx == tx) else { return };
        let Some(plan) = round.plans.get(index).filter(|plan| plan.gas_limit.is_none()) else {
            return;
        };
        let (class, intents) = (plan.class, plan.intents.clone());
        let gas_limit = match answer {
            Simulated::Gas(used) => {
                if let Some(kind) = self.kind_of(&intents) {
                    self.gas.learn_from_simulation(kind, intents.len(), used);
                }
                self.gas.limit(self.config.gas, used)
            }
            Simulated::Unavailable => self.guess(&intents),
            Simulated::Refused(refusal) => {
                round.plans.remove(index);
                // What is asked about it from here on must know the block that it knew: the next
                // node behind the same address may be behind.
                self.height = self.height.max(refusal.height.unwrap_or_default());
                self.simulation_refused(class, intents, &refusal);
                return;
            }
        };
        if let Some(plan) = self.round.as_mut().and_then(|round| round.plans.get_mut(index)) {
            plan.gas_limit = Some(gas_limit);
        }
    }

    /// What fails in simulation costs nothing yet: the message at fault is taken out and the others
    /// are simulated again, in time for the same block.
    fn simulation_refused(
        &mut self,
        class: Class,
        intents: Vec<IntentId>,
        refusal: &SimulationRefusal,
    ) {
        // Neither is any message's fault. Blocks went by unseen, and reading the account says up to
        // which height.
        if refusal.sequence_mismatch.is_some() || refusal.timed_out() {
            intents.into_iter().for_each(|id| self.requeue(id));
            self.abandon_round();
            self.sequence.want_after_misfit(self.now);
            return;
        }
        if let Some(reason) = Self::hold_for_text(refusal.message_index, &refusal.text) {
            intents.into_iter().for_each(|id| self.requeue(id));
            self.holds.hold(reason, self.now);
            return;
        }
        let at_fault = match (refusal.message_index, intents.as_slice()) {
            (Some(index), _) => intents.get(index).copied(),
            (None, [only]) => Some(*only),
            (None, _) => None,
        };
        match at_fault {
            Some(id) => {
                self.at_fault(id, String::new(), 0, &refusal.text);
                let others = intents.into_iter().filter(|other| *other != id).collect();
                self.plan_one(class, others);
            }
            None => {
                let (first, second) = intents.split_at(intents.len().div_ceil(2));
                self.plan_one(class, first.to_vec());
                self.plan_one(class, second.to_vec());
            }
        }
    }

    /// Puts everything planned back.
    fn abandon_round(&mut self) {
        let plans = self.round.take().map(|round| round.plans).unwrap_or_default();
        for id in plans.into_iter().flat_map(|plan| plan.intents) {
            self.requeue(id);
        }
    }

    /// Sends the round once all of it was simulated.
    fn broadcast_if_planned(&mut self) {
        let planned = |round: &Round| round.plans.iter().all(|plan| plan.gas_limit.is_some());
        if !self.round.as_ref().is_some_and(planned) {
            return;
        }
        for plan in self.round.take().map(|round| round.plans).unwrap_or_default() {
            self.broadcast(plan);
        }
    }

    fn broadcast(&mut self, plan: Plan) {
        let Plan { tx, class, intents, gas_limit } = plan;
        // A reason may have gone while it was simulated.
        let (gone, intents): (Vec<_>, Vec<_>) = intents
            .into_iter()
            .partition(|id| self.queue.get(*id).is_none_or(|entry| entry.forgotten));
        gone.into_iter().for_each(|id| self.requeue(id));
        let gas_limit = gas_limit.unwrap_or_default();
        if intents.is_empty() {
            return;
        }
        if !self.has_room(class, gas_limit) {
            self.full.insert(class);
            intents.into_iter().for_each(|id| self.requeue(id));
            return;
        }
        let sequence = self.flights.free_from(self.sequence.next);
        self.sequence.next = self.flights.free_from(sequence.saturating_add(1));
        for id in &intents {
            self.queue.put(*id, Place::Sent(tx));
        }
        let draft = self.draft(tx, sequence, intents.clone(), gas_limit);
        let bytes = intents.iter().filter_map(|id| Some(self.queue.get(*id)?.bytes)).sum();
        self.flights.insert(Flight {
            tx,
            sequence,
            class,
            intents,
            fee: draft.fee.clone(),
            bytes,
            timeout_height: draft.timeout_height,
            sent_height: self.height,
            signature: None,
            attempt: 1,
            sent: Sent::Broadcasting,
            look: Look::Needless,
        });
        self.effects.push(Effect::Broadcast(draft));
    }

    /// Whether the shares of a block still hold now that gas is known. Something always goes.
    fn has_room(&self, class: Class, gas_limit: u64) -> bool {
        let fits = |used: u64, most: u64| used == 0 || used.saturating_add(gas_limit) <= most;
        fits(self.flights.gas(), self.config.block_gas)
            && (class != Class::Bid || fits(self.flights.bid_gas(), self.config.bid_gas()))
    }
}
