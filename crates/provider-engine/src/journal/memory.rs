//! The newest entries of each subject.

use std::collections::{BTreeMap, VecDeque};

use super::{Entry, Subject};

/// Entries kept per subject.
const PER_SUBJECT: usize = 16;

/// Subjects that are over and kept all the same.
const ENDED: usize = 4_096;

/// The newest entries.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    entries: BTreeMap<Subject, VecDeque<Entry>>,
    ended: VecDeque<Subject>,
}

impl Journal {
    /// Keeps an entry. One that says the same as the newest of its subject is not kept again, and
    /// false is the answer.
    pub fn keep(&mut self, entry: &Entry) -> bool {
        let entries = self.entries.entry(entry.subject).or_default();
        if entries.back().is_some_and(|newest| newest.decision == entry.decision) {
            return false;
        }
        if entries.len() == PER_SUBJECT {
            // The first says how it began, which explains more than the one after it.
            entries.remove(1);
        }
        entries.push_back(entry.clone());
        true
    }

    /// Nothing more will happen to a subject.
    pub fn end(&mut self, subject: Subject) {
        self.ended.push_back(subject);
        if self.ended.len() > ENDED
            && let Some(oldest) = self.ended.pop_front()
        {
            self.entries.remove(&oldest);
        }
    }

    /// A subject that was over is not.
    pub fn revive(&mut self, subject: Subject) {
        self.ended.retain(|ended| *ended != subject);
    }

    /// What was decided about a subject, oldest first.
    pub fn why(&self, subject: Subject) -> impl Iterator<Item = &Entry> {
        self.entries.get(&subject).into_iter().flatten()
    }
}
