//! What blocks say. Nothing is done until a block says so.

use akash_types::{Action, IntentId, Outcome};

use super::super::{Refusal, RefusalKind};
use super::config::GasSetting;
use super::effect::Effect;
use super::flight::{Flight, Look, Sent};
use super::hold::HoldReason;
use super::input::{LaneBlock, OurTx, TxOutcome};
use super::machine::Lane;
use super::queue::{Otherwise, Place};
use super::sequence::Phase;

/// How often a message is tried that fails for no reason of its own.
const MOST_ATTEMPTS: u32 = 5;
/// A transaction that is in none of this many blocks is asked for.
const OVERDUE: u64 = 2;

impl Lane {
    pub(super) fn block(&mut self, block: LaneBlock) {
        let LaneBlock { height, unix_time, txs } = block;
        if self.followed.is_some_and(|followed| height <= followed) {
            return;
        }
        if self.missed_blocks_before(height) {
            self.resynced(height.saturating_sub(1));
        }
        self.followed = Some(height);
        self.height = self.height.max(height);
        self.fees.at(unix_time);
        self.full.clear();
        txs.into_iter().for_each(|tx| self.included(height, tx));
        self.expire(height);
        self.leave_waiting();
        for id in self.queue.all_waiting() {
            self.end_if_pointless(id);
        }
        let overdue = |flight: &Flight| {
            flight.sent == Sent::Resting && flight.sent_height.saturating_add(OVERDUE) <= height
        };
        if self.flights.iter().any(overdue) {
            self.sequence.want();
        }
    }

    /// Whether a transaction under way could be in a block that was never seen.
    fn missed_blocks_before(&self, height: u64) -> bool {
        match self.followed {
            Some(followed) => followed.saturating_add(1) < height,
            None => self.flights.iter().any(|flight| flight.sent_height.saturating_add(1) < height),
        }
    }

    fn included(&mut self, height: u64, tx: OurTx) {
        let OurTx { sequence, signature, result } = tx;
        let next = sequence.saturating_add(1);
        self.sequence.committed = self.sequence.committed.max(next);
        let ours = self.flights.at(sequence).map(|flight| flight.signature.as_ref());
        match ours {
            Some(known) if known == Some(&signature) => {
                if let Some(flight) = self.flights.remove(sequence) {
                    self.settle(&flight, height, &result);
                }
            }
            // Somebody else was faster with this sequence: ours can never come.
            Some(_) => {
                if let Some(flight) = self.flights.remove(sequence) {
                    self.lose(&flight, height);
                }
                self.sequence.want();
            }
            None if self.sequence.phase == Phase::Ready && self.sequence.next < next => {
                self.sequence.next = next;
                self.sequence.want();
            }
            None => {}
        }
    }

    /// A transaction of ours is in a block.
    pub(super) fn settle(&mut self, flight: &Flight, height: u64, result: &TxOutcome) {
        self.effects.push(Effect::Drop { tx: flight.tx });
        self.confirmed = self.confirmed.max(Some(height));
        self.fees.spend(&flight.fee);
        match &result.refusal {
            None => self.succeeded(flight, height, result.gas_used),
            Some(refusal) => self.failed(flight, height, refusal),
        }
    }

    fn succeeded(&mut self, flight: &Flight, height: u64, gas_used: u64) {
        self.batches.succeeded(&self.config, flight.class);
        self.holds.succeeded(flight.class);
        if let Some(kind) = self.kind_of(&flight.intents) {
            self.gas.learn(kind, flight.intents.len(), gas_used);
        }
        for id in &flight.intents {
            self.done(*id, Outcome::Executed { height });
        }
    }

    /// A transaction failed in a block, and paid for it. The message at fault is taken out, the
    /// others go again at once.
    fn failed(&mut self, flight: &Flight, height: u64, refusal: &Refusal) {
        self.batches.failed(&self.config, flight.class, height);
        if refusal.kind() == RefusalKind::OutOfGas {
            match self.config.gas {
                GasSetting::Auto(_) => self.gas.raise(),
                GasSetting::Fixed(_) => self.hold_for(refusal),
            }
        }
        let at_fault = match (refusal.message_index(), flight.intents.as_slice()) {
            (Some(index), _) => flight.intents.get(index).copied(),
            (None, [only]) => Some(*only),
            (None, _) => None,
        };
        match at_fault {
            Some(id) => {
                self.at_fault(id, refusal.codespace.clone(), refusal.code, &refusal.log);
                let others = flight.intents.iter().filter(|other| **other != id);
                others.for_each(|other| self.requeue(*other));
            }
            None => {
                self.halve(flight);
                flight.intents.iter().for_each(|id| self.requeue(*id));
            }
        }
    }

    /// A message failed for a reason of its own, or nobody else is left to blame.
    pub(super) fn at_fault(&mut self, id: IntentId, codespace: String, code: u32, log: &str) {
        let height = self.height;
        let Some(entry) = self.queue.get_mut(id) else { return };
        entry.attempts = entry.attempts.saturating_add(1);
        let may_retry = entry.attempts < MOST_ATTEMPTS;
        let class = entry.intent.class;
        if log.contains("insufficient funds") || log.contains("insufficient balance") {
            let reason = HoldReason::InsufficientFunds { log: log.to_owned() };
            self.holds.hold_class(class, reason, self.now);
            self.requeue(id);
            return;
        }
        let was_settled = matches!(entry.intent.action, Action::Withdraw { .. })
            && log.contains("couldn't find payment");
        if was_settled && may_retry {
            // Somebody settled the account in that block. Simulation sees that block too.
            entry.not_before = height.saturating_add(1);
            self.requeue(id);
            return;
        }
        let out_of_gas = codespace == Refusal::SDK && code == 11;
        if out_of_gas && may_retry {
            self.requeue(id);
            return;
        }
        // Texts of a panic come with a stack.
        let log = log.chars().take(500).collect();
        let refused = Outcome::Refused { codespace, code, log };
        self.doubt(id, Otherwise::End(refused), height);
    }

    /// Transactions that no block can take any more. All blocks since they were sent were seen, so
    /// their intents are as open as before.
    fn expire(&mut self, height: u64) {
        let over = self
            .flights
            .sequences(|flight| flight.timeout_height <= height && flight.look == Look::Needless);
        for sequence in over {
            if let Some(flight) = self.flights.remove(sequence) {
                self.effects.push(Effect::Drop { tx: flight.tx });
                flight.intents.iter().for_each(|id| self.requeue(*id));
                self.sequence.want();
            }
        }
    }

    /// A transaction whose sequence another one used: it never was in a block and never will be.
    /// The other may be of an earlier lane and have done the same, so the chain is asked.
    fn lose(&mut self, flight: &Flight, height: u64) {
        self.effects.push(Effect::Drop { tx: flight.tx });
        for id in &flight.intents {
            self.queue.put(*id, Place::Queued);
            self.doubt(*id, Otherwise::Try, height);
        }
    }
}
