//! The intents under way, and those of them that wait to be sent.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use akash_types::{Class, Intent, IntentId, Outcome, Subject};

use super::super::Message;
use super::TxRef;
use super::gas_model::Kind;

/// An intent under way.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) intent: Intent,
    pub(super) message: Message,
    /// Bytes of the message in a transaction.
    pub(super) bytes: usize,
    /// Counts submissions. Kept for life, so that what is sent again keeps its turn.
    arrival: u64,
    /// Height at which it was submitted.
    pub(super) since: u64,
    pub(super) place: Place,
    /// Most messages of a transaction that it may be part of; halved when one fails and nobody
    /// says which message is at fault.
    pub(super) cap: usize,
    /// How often it was tried in vain.
    pub(super) attempts: u32,
    /// Not to be sent before this block was seen.
    pub(super) not_before: u64,
    /// Its reason is gone; it is not sent again.
    pub(super) forgotten: bool,
    /// A transaction of an earlier lane may still bring it about.
    pub(super) inherited: bool,
}

impl Entry {
    pub(super) const fn kind(&self) -> Kind {
        Kind::of(&self.intent.action)
    }
}

/// Where an intent is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It waits.
    Queued,
    /// It is part of a transaction that is being simulated.
    Planned(TxRef),
    /// It is part of a transaction that was given to a node.
    Sent(TxRef),
    /// The chain is asked whether it holds.
    Doubt(Doubt),
}

/// A question to the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Doubt {
    /// What follows if the wanted state does not hold.
    pub(super) otherwise: Otherwise,
    /// Height that the answer must know.
    pub(super) height: u64,
    /// Height that an answer must know to say that it does not hold; what holds may hold before.
    pub(super) open_from: u64,
    /// Whether the question is out.
    pub(super) asked: bool,
    /// When to ask, if it is not.
    pub(super) ask_at: Duration,
    /// How often nobody said.
    pub(super) misses: u32,
}

/// What follows if a wanted state does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Otherwise {
    /// It is tried, again or for the first time.
    Try,
    /// It ends like this.
    End(Outcome),
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    entries: BTreeMap<IntentId, Entry>,
    waiting: BTreeMap<Class, BTreeSet<(u64, IntentId)>>,
    doubts: BTreeSet<IntentId>,
    /// Who is about what, in the order they came.
    lines: BTreeMap<Subject, BTreeSet<(u64, IntentId)>>,
    arrivals: u64,
}

impl Queue {
    /// Takes in an intent; it waits.
    pub(super) fn insert(&mut self, intent: Intent, message: Message, height: u64) {
        let (id, class) = (intent.id, intent.class);
        self.arrivals += 1;
        let turn = (self.arrivals, id);
        if let Some(subject) = intent.action.subject() {
            self.lines.entry(subject).or_default().insert(turn);
        }
        self.waiting.entry(class).or_default().insert(turn);
        let any = message.as_any();
        // Field numbers and lengths of the packed message and of its parts.
        let bytes = any.type_url.len() + any.value.len() + 12;
        let entry = Entry {
            intent,
            message,
            bytes,
            arrival: self.arrivals,
            since: height,
            place: Place::Queued,
            cap: usize::MAX,
            attempts: 0,
            not_before: 0,
            forgotten: false,
            inherited: false,
        };
        self.entries.insert(id, entry);
    }

    pub(super) fn get(&self, id: IntentId) -> Option<&Entry> {
        self.entries.get(&id)
    }

    /// For what has no influence on its place.
    pub(super) fn get_mut(&mut self, id: IntentId) -> Option<&mut Entry> {
        self.entries.get_mut(&id)
    }

    /// Puts an intent somewhere else.
    pub(super) fn put(&mut self, id: IntentId, place: Place) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let turn = (entry.arrival, id);
        if let Some(waiting) = self.waiting.get_mut(&entry.intent.class) {
            waiting.remove(&turn);
        }
        self.doubts.remove(&id);
        match place {
            Place::Queued => {
                self.waiting.entry(entry.intent.class).or_default().insert(turn);
            }
            Place::Doubt(_) => drop(self.doubts.insert(id)),
            Place::Planned(_) | Place::Sent(_) => {}
        }
        entry.place = place;
    }

    pub(super) fn remove(&mut self, id: IntentId) -> Option<Entry> {
        self.put(id, Place::Queued);
        let entry = self.entries.remove(&id)?;
        let turn = (entry.arrival, id);
        if let Some(waiting) = self.waiting.get_mut(&entry.intent.class) {
            waiting.remove(&turn);
        }
        if let Some(subject) = entry.intent.action.subject()
            && let Some(line) = self.lines.get_mut(&subject)
        {
            line.remove(&turn);
            if line.is_empty() {
                self.lines.remove(&subject);
            }
        }
        Some(entry)
    }

    /// Whether nobody who came before it is about the same subject.
    pub(super) fn is_first_in_line(&self, entry: &Entry) -> bool {
        let Some(subject) = entry.intent.action.subject() else { return true };
        let first = self.lines.get(&subject).and_then(BTreeSet::first);
        first.is_none_or(|(_, id)| *id == entry.intent.id)
    }

    /// Those of a class that wait, in the order they came.
    pub(super) fn waiting(&self, class: Class) -> impl Iterator<Item = &Entry> {
        let turns = self.waiting.get(&class).into_iter().flatten();
        turns.filter_map(|(_, id)| self.entries.get(id))
    }

    /// All that wait, in the order they came.
    pub(super) fn all_waiting(&self) -> Vec<IntentId> {
        let mut turns: Vec<_> = self.waiting.values().flatten().copied().collect();
        turns.sort_unstable();
        turns.into_iter().map(|(_, id)| id).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn is_anyone_waiting(&self) -> bool {
        self.waiting.values().any(|waiting| !waiting.is_empty())
    }

    pub(super) fn count_waiting(&self, class: Class) -> usize {
        self.waiting.get(&class).map_or(0, BTreeSet::len)
    }

    pub(super) fn doubts(&self) -> impl Iterator<Item = IntentId> {
        self.doubts.iter().copied()
    }

    /// All that wait, those before others that must not wait any longer: `promoted` of them first,
    /// in the order they came, then bids, then the other classes.
    pub(super) fn in_order(&self, promoted: impl Fn(&Entry) -> bool) -> Vec<&Entry> {
        let mut first: Vec<&Entry> = Vec::new();
        let mut rest: Vec<&Entry> = Vec::new();
        for class in Class::ALL {
            let (now, later): (Vec<_>, Vec<_>) =
                self.waiting(class).partition(|entry| promoted(entry));
            first.extend(now);
            rest.extend(later);
        }
        first.sort_by_key(|entry| entry.arrival);
        first.extend(rest);
        first
    }
}
