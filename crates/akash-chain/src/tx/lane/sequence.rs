//! The account's sequence: what blocks say, what the mempool adds, what is free.
//!
//! ```text
//! unread ── committed = pending ──────────────────────────────► ready ◄─┐
//!    │                                                            │     │ read again: mismatch,
//!    └─ pending above committed: somebody's wait, ours perhaps ─► waiting   foreign or lost ones
//!          until they are in blocks, or timed out ────────────────┘
//! ```

use std::time::Duration;

use akash_types::Backoff;

use super::effect::Effect;
use super::flight::{Look, Sent};
use super::input::AccountRead;
use super::machine::Lane;

const PAUSE: Backoff = Backoff { first: Duration::from_millis(100), most: Duration::from_secs(5) };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Never read.
    Unread,
    /// An earlier lane's transactions may be under way.
    Waiting {
        /// They are in once this sequence is the account's next.
        sequence: u64,
        /// They have timed out after this block.
        height: u64,
    },
    /// What is free is known.
    Ready,
}

/// Bounds of what an earlier lane can have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Earlier {
    /// What was decided before this height, it may have sent.
    pub(super) known: u64,
    /// After this height nothing that it sent comes into a block, not even what was held up on its
    /// way to a node until now. As far as can be known: it may have heard of newer blocks than
    /// whoever was asked first this time.
    pub(super) over: u64,
}

#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) phase: Phase,
    /// Next sequence by the blocks seen.
    pub(super) committed: u64,
    /// Next sequence for a new transaction.
    pub(super) next: u64,
    /// What an earlier lane can have done; since the first read.
    pub(super) earlier: Option<Earlier>,
    pub(super) last_read: Option<AccountRead>,
    /// Why the account could not be read last time.
    pub(super) problem: Option<String>,
    wanted: bool,
    reading: bool,
    strikes: u32,
    not_before: Duration,
}

impl Sequence {
    pub(super) const fn new() -> Self {
        Self {
            phase: Phase::Unread,
            committed: 0,
            next: 0,
            earlier: None,
            last_read: None,
            problem: None,
            wanted: true,
            reading: false,
            strikes: 0,
            not_before: Duration::ZERO,
        }
    }

    /// The account shall be read before anything else is sent.
    pub(super) const fn want(&mut self) {
        self.wanted = true;
    }

    /// The same because an answer did not fit; later each time, until something fits.
    pub(super) fn want_after_misfit(&mut self, now: Duration) {
        if !self.wanted {
            self.wanted = true;
            self.pause(now);
        }
    }

    /// A node took a new transaction.
    pub(super) const fn fits(&mut self) {
        self.strikes = 0;
    }

    pub(super) fn unread(&mut self, now: Duration, reason: String) {
        self.reading = false;
        self.wanted = true;
        self.problem = Some(reason);
        self.strikes = self.strikes.max(2);
        self.pause(now);
    }

    fn pause(&mut self, now: Duration) {
        // The first time it is most likely a foreign transaction: read at once.
        if self.strikes > 0 {
            // One process uses a key: nobody else waits with it.
            self.not_before = now.saturating_add(PAUSE.after(self.strikes, 0));
        }
        self.strikes = self.strikes.saturating_add(1);
    }

    pub(super) fn is_settled(&self) -> bool {
        self.phase == Phase::Ready && !self.wanted && !self.reading
    }

    pub(super) fn wake(&self) -> Option<Duration> {
        (self.wanted && !self.reading).then_some(self.not_before)
    }
}

impl Lane {
    pub(super) fn read_account_if_due(&mut self) {
        let sequence = &mut self.sequence;
        // Before every broadcast has its answer, what the mempool adds is about to change.
        let due = sequence.wanted && !sequence.reading && self.flights.all_answered();
        if due && self.now >= sequence.not_before {
            sequence.wanted = false;
            sequence.reading = true;
            self.effects.push(Effect::ReadAccount);
        }
    }

    pub(super) fn account_read(&mut self, read: AccountRead) {
        if !self.sequence.reading {
            return;
        }
        self.sequence.reading = false;
        self.sequence.problem = None;
        self.height = self.height.max(read.height);
        self.sequence.committed = self.sequence.committed.max(read.committed);
        self.sequence.last_read = Some(read);
        if self.sequence.earlier.is_none() {
            self.doubt_all_inherited(read.height);
        }
        if self.sequence.phase == Phase::Unread && read.pending > read.committed {
            let height = read.height.saturating_add(self.config.timeout_blocks);
            self.sequence.phase = Phase::Waiting { sequence: read.pending, height };
        }
        self.leave_waiting();
        if matches!(self.sequence.phase, Phase::Waiting { .. }) {
            return;
        }
        self.sequence.phase = Phase::Ready;
        self.queue.all_waiting().into_iter().for_each(|id| self.end_if_pointless(id));
        self.look_for_missed(read);
        self.end_absent();
        self.repair(read.pending);
    }

    /// Goes on once an earlier lane's transactions are in, or cannot come any more.
    pub(super) fn leave_waiting(&mut self) {
        let Phase::Waiting { sequence, height } = self.sequence.phase else { return };
        let over = self.followed.is_some_and(|followed| followed >= height);
        if self.sequence.committed < sequence && !over {
            return;
        }
        self.sequence.phase = Phase::Ready;
        self.sequence.want();
        // They may have done what was submitted since.
        self.doubt_everything(self.height);
    }

    /// The account says that a sequence is used up, all blocks up to there were seen, and the
    /// transaction was in none of them: it is looked for.
    fn look_for_missed(&mut self, read: AccountRead) {
        if self.followed.is_none_or(|followed| followed < read.height) {
            return;
        }
        for flight in self.flights.iter_mut() {
            if flight.sequence < read.committed && flight.look == Look::Needless {
                flight.look = Look::Asked;
                self.effects.push(Effect::LookUp { tx: flight.tx });
            }
        }
    }

    /// The node waits for sequence `pending`. If that is one of ours, it has lost it, and those
    /// behind it: the same bytes are given again. If not, it is the next to be used.
    fn repair(&mut self, pending: u64) {
        let expected = pending.max(self.sequence.committed);
        self.sequence.next = self.flights.free_from(expected);
        for sequence in expected..self.sequence.next {
            self.send_again(sequence);
        }
        // What the node counts in, it has.
        for flight in self.flights.iter_mut() {
            if flight.sequence < expected && matches!(flight.sent, Sent::Unknown { .. }) {
                flight.sent = Sent::Resting;
            }
        }
    }
}
