//! Asking the chain: whether a wanted state holds, whether a transaction is in a block.

use std::time::Duration;

use akash_types::{Action, Backoff, IntentId, Outcome, Wanted};

use super::effect::{Effect, TxRef};
use super::flight::Look;
use super::input::{LookedUp, Verified};
use super::machine::Lane;
use super::queue::{Doubt, Otherwise, Place};
use super::sequence::Earlier;

const PAUSE: Backoff = Backoff { first: Duration::from_millis(500), most: Duration::from_secs(10) };

/// Whether the chain does it once more when it is told once more. A second bid or close is refused.
const fn is_done_again(action: &Action) -> bool {
    matches!(action, Action::Withdraw { .. } | Action::Deposit { .. } | Action::Message(_))
}

impl Lane {
    /// Asks whether the state that an intent wants holds, as of a height.
    pub(super) fn doubt(&mut self, id: IntentId, otherwise: Otherwise, height: u64) {
        let Some(entry) = self.queue.get(id) else { return };
        if entry.intent.wanted() == Wanted::Unverifiable {
            match (otherwise, &entry.place) {
                (Otherwise::End(outcome), _) => self.done(id, outcome),
                (Otherwise::Try, Place::Sent(_)) => self.done(id, Outcome::Unknown),
                // Never sent by us: it is as new as it was.
                (Otherwise::Try, _) => self.requeue(id),
            }
            return;
        }
        // Whoever wants it has seen the block that led to it.
        let height = height.max(entry.intent.created);
        let (asked, ask_at, misses) = (false, self.now, 0);
        let doubt = Doubt { otherwise, height, open_from: height, asked, ask_at, misses };
        self.queue.put(id, Place::Doubt(doubt));
    }

    /// The account was read for the first time: whatever waits came before that, so an earlier lane
    /// may have sent it. What was decided at a height that the node does not know yet is most likely
    /// new, so that only what must not be done twice is asked about.
    pub(super) fn doubt_all_inherited(&mut self, read: u64) {
        let waiting = self.queue.all_waiting();
        let decided = waiting.iter().filter_map(|id| Some(self.queue.get(*id)?.intent.created));
        let newest = decided.max().unwrap_or_default().max(self.height);
        let over = newest.saturating_add(self.config.timeout_blocks);
        let earlier = Earlier { known: read, over };
        self.sequence.earlier = Some(earlier);
        for id in waiting {
            let Some(entry) = self.queue.get_mut(id) else { continue };
            entry.inherited = true;
            if entry.intent.created < read || is_done_again(&entry.intent.action) {
                self.doubt_inherited(id, earlier);
            }
        }
    }

    /// Asks about an intent that an earlier lane may have sent. What the chain does again when it
    /// is told again is left open only once nothing of that lane can come any more: until then its
    /// transaction may be on its way unseen, and both would take effect.
    pub(super) fn doubt_inherited(&mut self, id: IntentId, earlier: Earlier) {
        let Some(entry) = self.queue.get_mut(id) else { return };
        entry.inherited = true;
        if is_done_again(&entry.intent.action) {
            self.doubt_until_over(id, earlier);
        } else {
            self.doubt(id, Otherwise::Try, self.height);
        }
    }

    /// Asks about an intent until nothing of an earlier lane can bring it about any more.
    pub(super) fn doubt_until_over(&mut self, id: IntentId, earlier: Earlier) {
        let Some(entry) = self.queue.get_mut(id) else { return };
        if entry.intent.wanted() == Wanted::Unverifiable {
            // Nobody can say, so that there is nothing to wait for.
            entry.inherited = false;
        }
        self.doubt(id, Otherwise::Try, self.height);
        if let Some(entry) = self.queue.get_mut(id)
            && let Place::Doubt(doubt) = &mut entry.place
        {
            doubt.open_from = doubt.height.max(earlier.over);
        }
    }

    pub(super) fn verify_if_due(&mut self) {
        let ids: Vec<IntentId> = self.queue.doubts().collect();
        for id in ids {
            let now = self.now;
            let Some(entry) = self.queue.get_mut(id) else { continue };
            if let Place::Doubt(doubt) = &mut entry.place
                && !doubt.asked
                && doubt.ask_at <= now
            {
                doubt.asked = true;
                let wanted = entry.intent.wanted();
                self.effects.push(Effect::Verify { intent: id, wanted });
            }
        }
    }

    pub(super) fn next_doubt(&self) -> Option<Duration> {
        let places = self.queue.doubts().filter_map(|id| Some(&self.queue.get(id)?.place));
        let times = places.filter_map(|place| match place {
            Place::Doubt(doubt) if !doubt.asked => Some(doubt.ask_at),
            _ => None,
        });
        times.min()
    }

    pub(super) fn verified(&mut self, id: IntentId, answer: Verified) {
        let now = self.now;
        let Some(entry) = self.queue.get_mut(id) else { return };
        let Place::Doubt(doubt) = &mut entry.place else { return };
        if !doubt.asked {
            return;
        }
        // A node that lags says how it was before. That goes for both answers: a bid that it does
        // not know yet looks as if it were over.
        let (known, holds) = match answer {
            Verified::Holds { height } => (height >= doubt.height, true),
            Verified::Open { height } => (height >= doubt.height.max(doubt.open_from), false),
            Verified::Unavailable => (false, false),
        };
        if known && holds {
            self.done(id, Outcome::AlreadyHolds);
            return;
        }
        if !known {
            // Silence is no answer, also to whether a refusal stands: the same message may have
            // come through before.
            doubt.misses = doubt.misses.saturating_add(1);
            doubt.asked = false;
            doubt.ask_at = now.saturating_add(PAUSE.after(doubt.misses, id.0));
            return;
        }
        let is_over = self.sequence.earlier.is_some_and(|earlier| doubt.open_from >= earlier.over);
        let otherwise = doubt.otherwise.clone();
        entry.inherited &= !is_over;
        match otherwise {
            Otherwise::Try => self.requeue(id),
            Otherwise::End(outcome) => self.done(id, outcome),
        }
    }

    /// Blocks up to a height were skipped: what is under way may be in one of them.
    pub(super) fn resynced(&mut self, height: u64) {
        self.followed = self.followed.max(Some(height));
        self.height = self.height.max(height);
        for flight in self.flights.iter_mut() {
            flight.look = Look::Asked;
            self.effects.push(Effect::LookUp { tx: flight.tx });
        }
        self.leave_waiting();
        self.sequence.want();
    }

    /// Another branch of the chain counts. Sequences that were used may be free again there; what is
    /// under way may still come, and keeps its own until it is in a block or timed out.
    pub(super) fn rebased(&mut self, height: u64) {
        self.resynced(height);
        (self.sequence.committed, self.sequence.last_read) = (0, None);
    }

    pub(super) fn look_up_if_due(&mut self) {
        let now = self.now;
        for flight in self.flights.iter_mut() {
            if matches!(flight.look, Look::Later { ask_at } if ask_at <= now) {
                flight.look = Look::Asked;
                self.effects.push(Effect::LookUp { tx: flight.tx });
            }
        }
    }

    pub(super) fn looked_up(&mut self, tx: TxRef, answer: LookedUp) {
        let now = self.now;
        let Some(flight) = self.flights.of(tx).filter(|flight| flight.look == Look::Asked) else {
            return;
        };
        match answer {
            LookedUp::Found { height, result } => {
                let sequence = flight.sequence;
                if let Some(flight) = self.flights.remove(sequence) {
                    let next = sequence.saturating_add(1);
                    self.sequence.committed = self.sequence.committed.max(next);
                    self.settle(&flight, height, &result);
                }
            }
            LookedUp::Absent => {
                flight.look = Look::Absent;
                self.end_absent();
                self.sequence.want();
            }
            LookedUp::Unavailable => {
                flight.look = Look::Later { ask_at: now.saturating_add(PAUSE.first) };
            }
        }
    }

    /// Decides what is left of transactions that were looked for in vain, by the account: a used
    /// sequence may have been theirs, an unused one past their timeout can never be.
    pub(super) fn end_absent(&mut self) {
        let Some(read) = self.sequence.last_read else { return };
        // The account must know all the blocks that were skipped.
        if self.followed.is_some_and(|followed| read.height < followed) {
            return;
        }
        for sequence in self.flights.sequences(|flight| flight.look == Look::Absent) {
            if sequence < read.committed {
                if let Some(flight) = self.flights.remove(sequence) {
                    self.effects.push(Effect::Drop { tx: flight.tx });
                    for id in &flight.intents {
                        self.doubt(*id, Otherwise::Try, read.height);
                    }
                }
            } else if let Some(flight) =
                self.flights.iter_mut().find(|flight| flight.sequence == sequence)
            {
                // In no block up to the one that was read: from here on blocks are seen.
                flight.look = Look::Needless;
            }
        }
    }
}
