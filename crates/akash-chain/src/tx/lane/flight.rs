//! Transactions that were given to a node and are in no block yet.

use std::collections::BTreeMap;
use std::time::Duration;

use akash_types::{Class, IntentId};

use super::super::Fee;
use super::TxRef;

/// A transaction under way. As long as it may come into a block nothing else is signed with its
/// sequence.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) tx: TxRef,
    pub(super) sequence: u64,
    pub(super) class: Class,
    pub(super) intents: Vec<IntentId>,
    pub(super) fee: Fee,
    pub(super) bytes: usize,
    pub(super) timeout_height: u64,
    /// The newest block when it was sent: no block up to there has it.
    pub(super) sent_height: u64,
    pub(super) signature: Option<Vec<u8>>,
    pub(super) attempt: u32,
    pub(super) sent: Sent,
    pub(super) look: Look,
}

/// What is known of a broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// No answer yet.
    Broadcasting,
    /// A node has it, or had it, or says something that does not tell. Blocks will.
    Resting,
    /// Nobody answered; it is given again at this time.
    Unknown { again_at: Duration },
}

/// Whether it is looked for in blocks that were not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// All blocks that could have it were or will be seen.
    Needless,
    /// The question is out.
    Asked,
    /// Nobody said; asked again at this time.
    Later { ask_at: Duration },
    /// The node knows of none.
    Absent,
}

#[derive(Debug, Default)]
pub(super) struct Flights {
    by_sequence: BTreeMap<u64, Flight>,
}

impl Flights {
    pub(super) fn insert(&mut self, flight: Flight) {
        self.by_sequence.insert(flight.sequence, flight);
    }

    pub(super) fn at(&self, sequence: u64) -> Option<&Flight> {
        self.by_sequence.get(&sequence)
    }

    pub(super) fn remove(&mut self, sequence: u64) -> Option<Flight> {
        self.by_sequence.remove(&sequence)
    }

    pub(super) fn of(&mut self, tx: TxRef) -> Option<&mut Flight> {
        self.by_sequence.values_mut().find(|flight| flight.tx == tx)
    }

    /// In the order of their sequences.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Flight> {
        self.by_sequence.values()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Flight> {
        self.by_sequence.values_mut()
    }

    /// Sequences of those that `which` is true for.
    pub(super) fn sequences(&self, which: impl Fn(&Flight) -> bool) -> Vec<u64> {
        self.iter().filter(|flight| which(flight)).map(|flight| flight.sequence).collect()
    }

    /// The first sequence from `sequence` on that is not taken.
    pub(super) fn free_from(&self, mut sequence: u64) -> u64 {
        while self.by_sequence.contains_key(&sequence) {
            sequence = sequence.saturating_add(1);
        }
        sequence
    }

    pub(super) fn len(&self) -> usize {
        self.by_sequence.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_sequence.is_empty()
    }

    pub(super) fn messages(&self) -> usize {
        self.iter().map(|flight| flight.intents.len()).sum()
    }

    pub(super) fn bytes(&self) -> usize {
        self.iter().map(|flight| flight.bytes).sum()
    }

    pub(super) fn gas(&self) -> u64 {
        self.iter().map(|flight| flight.fee.gas_limit).sum()
    }

    pub(super) fn bid_gas(&self) -> u64 {
        let bids = self.iter().filter(|flight| flight.class == Class::Bid);
        bids.map(|flight| flight.fee.gas_limit).sum()
    }

    pub(super) fn unanswered(&self) -> usize {
        self.iter().filter(|flight| flight.sent != Sent::Resting).count()
    }

    /// Whether no broadcast waits for its answer.
    pub(super) fn all_answered(&self) -> bool {
        self.iter().all(|flight| flight.sent != Sent::Broadcasting)
    }

    /// Whether nobody knows of some whether a node has it.
    pub(super) fn any_unknown(&self) -> bool {
        self.iter().any(|flight| matches!(flight.sent, Sent::Unknown { .. }))
    }
}
