//! The lane as a state machine: inputs in, effects out.

use std::collections::BTreeSet;
use std::time::Duration;

use akash_types::{Class, Intent, IntentId, Outcome};

use super::config::LaneConfig;
use super::effect::{Effect, TxRef, message_for};
use super::flight::Flights;
use super::gas_model::{BatchSizes, Fees, GasModel};
use super::hold::Holds;
use super::input::Input;
use super::queue::{Otherwise, Place, Queue};
use super::round::Round;
use super::sequence::{Phase, Sequence};

/// Decides which message goes when, with which sequence, and what follows an answer.
#[derive(Debug)]
pub struct Lane {
    pub(super) config: LaneConfig,
    pub(super) now: Duration,
    pub(super) effects: Vec<Effect>,
    /// The newest block that is known of: from the follower, from reading the account, from what
    /// a simulation was refused on.
    pub(super) height: u64,
    /// The newest block that was followed.
    pub(super) followed: Option<u64>,
    pub(super) confirmed: Option<u64>,
    pub(super) sequence: Sequence,
    pub(super) queue: Queue,
    pub(super) flights: Flights,
    pub(super) round: Option<Round>,
    pub(super) gas: GasModel,
    pub(super) fees: Fees,
    pub(super) holds: Holds,
    pub(super) batches: BatchSizes,
    /// Classes that had no room left when their gas was known; until the next block.
    pub(super) full: BTreeSet<Class>,
    refs: u64,
    wake: Option<Duration>,
}

impl Lane {
    /// A lane that knows nothing yet: neither its account's sequence nor what an earlier one sent.
    pub fn new(config: LaneConfig) -> Self {
        Self {
            config,
            now: Duration::ZERO,
            effects: Vec::new(),
            height: 0,
            followed: None,
            confirmed: None,
            sequence: Sequence::new(),
            queue: Queue::default(),
            flights: Flights::default(),
            round: None,
            gas: GasModel::new(),
            fees: Fees::new(),
            holds: Holds::default(),
            batches: BatchSizes::default(),
            full: BTreeSet::new(),
            refs: 0,
            wake: None,
        }
    }

    /// Its settings.
    pub const fn config(&self) -> &LaneConfig {
        &self.config
    }

    /// Takes in what happened at `now`, counted from any moment that stays the same; what to do.
    pub fn handle(&mut self, now: Duration, input: Input) -> Vec<Effect> {
        self.now = self.now.max(now);
        match input {
            Input::Submit(intents) => intents.into_iter().for_each(|intent| self.submit(intent)),
            Input::Forget(intent) => self.forget(intent),
            Input::AccountRead(read) => self.account_read(read),
            Input::AccountUnread { reason } => self.sequence.unread(self.now, reason),
            Input::Simulated { tx, answer } => self.simulated(tx, answer),
            Input::Signed { tx, signature } => {
                if let Some(flight) = self.flights.of(tx) {
                    flight.signature = Some(signature);
                }
            }
            Input::BroadcastAnswered { tx, attempt, answer } => {
                self.broadcast_answered(tx, attempt, answer);
            }
            Input::Block(block) => self.block(block),
            Input::Resynced { height } => self.resynced(height),
            Input::Rebased { height } => self.rebased(height),
            Input::LookedUp { tx, answer } => self.looked_up(tx, answer),
            Input::Verified { intent, answer } => self.verified(intent, answer),
            Input::Tick => {}
        }
        self.advance();
        std::mem::take(&mut self.effects)
    }

    fn submit(&mut self, intent: Intent) {
        let id = intent.id;
        if self.queue.get(id).is_some() {
            return;
        }
        let message = message_for(&intent.action, self.config.owner, self.config.account);
        let message = match message {
            Ok(message) => message,
            Err(error) => {
                let reason = error.to_string();
                let outcome = Outcome::Invalid { reason };
                self.effects.push(Effect::Done { intent: id, outcome });
                return;
            }
        };
        self.queue.insert(intent, message, self.height);
        self.doubt_if_old(id);
        self.end_if_pointless(id);
    }

    fn forget(&mut self, id: IntentId) {
        let Some(entry) = self.queue.get_mut(id) else { return };
        entry.forgotten = true;
        self.end_if_pointless(id);
    }

    /// Starts whatever can go on now.
    fn advance(&mut self) {
        self.read_account_if_due();
        self.send_again_if_due();
        self.look_up_if_due();
        self.verify_if_due();
        self.go_on_with_round();
        let wake = self.next_wake();
        if let Some(at) = wake.filter(|_| wake != self.wake) {
            self.effects.push(Effect::WakeAt(at));
        }
        self.wake = wake;
    }

    fn next_wake(&self) -> Option<Duration> {
        let work = self.queue.is_anyone_waiting() || self.round.is_some();
        let held = self.holds.next_end(self.now).filter(|_| work);
        let times = [held, self.sequence.wake(), self.next_repeat(), self.next_doubt()];
        times.into_iter().flatten().filter(|at| *at > self.now).min()
    }

    pub(super) fn new_ref(&mut self) -> TxRef {
        self.refs += 1;
        TxRef(self.refs)
    }

    /// Ends an intent.
    pub(super) fn done(&mut self, id: IntentId, outcome: Outcome) {
        if self.queue.remove(id).is_some() {
            self.effects.push(Effect::Done { intent: id, outcome });
        }
    }

    /// Puts an intent back among those that wait, if there is still a point in it.
    pub(super) fn requeue(&mut self, id: IntentId) {
        self.queue.put(id, Place::Queued);
        self.end_if_pointless(id);
    }

    /// Ends an intent that waits, if its reason is gone or its time is over.
    pub(super) fn end_if_pointless(&mut self, id: IntentId) {
        let Some(entry) = self.queue.get(id) else { return };
        // Before the account is known, an earlier lane's transaction may still bring it about.
        if entry.place != Place::Queued || self.sequence.phase != Phase::Ready {
            return;
        }
        // The next block is the first that could have it.
        let is_late = entry.intent.deadline.is_some_and(|deadline| deadline <= self.height);
        let outcome = match (entry.forgotten, is_late) {
            (true, _) => Outcome::Forgotten,
            (false, true) => Outcome::Expired,
            (false, false) => return,
        };
        match self.sequence.earlier.filter(|_| entry.inherited) {
            Some(earlier) => self.doubt_until_over(id, earlier),
            None => self.done(id, outcome),
        }
    }

    /// Asks the chain about an intent that was decided before the lane knew its account: an earlier
    /// lane may have sent it.
    fn doubt_if_old(&mut self, id: IntentId) {
        let old = self.queue.get(id).zip(self.sequence.earlier);
        if let Some((_, earlier)) = old.filter(|(entry, then)| entry.intent.created < then.known) {
            self.doubt_inherited(id, earlier);
        }
    }

    /// Asks the chain about everything that waits: somebody may have sent it.
    pub(super) fn doubt_everything(&mut self, height: u64) {
        for id in self.queue.all_waiting() {
            self.doubt(id, Otherwise::Try, height);
        }
        // Questions that are out were asked too early.
        let asked: Vec<IntentId> = self.queue.doubts().collect();
        for id in asked {
            if let Some(entry) = self.queue.get_mut(id)
                && let Place::Doubt(doubt) = &mut entry.place
            {
                doubt.height = doubt.height.max(height);
            }
        }
    }
}
