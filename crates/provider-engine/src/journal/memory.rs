//! The newest decision about each subject.

use std::collections::{BTreeMap, VecDeque};

use super::{Decision, Entry, Subject};

/// Subjects that are over and kept all the same.
const ENDED: usize = 4_096;

/// What was decided last, so that the same is not said again. What was decided before is with
/// whoever keeps the entries.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    newest: BTreeMap<Subject, Decision>,
    ended: VecDeque<Subject>,
}

impl Journal {
    /// Whether an entry says anything new about its subject, which is then remembered.
    pub fn is_new(&mut self, entry: &Entry) -> bool {
        if self.newest.get(&entry.subject) == Some(&entry.decision) {
            return false;
        }
        let before = self.newest.insert(entry.subject, entry.decision.clone());
        // Nobody says when a deployment is over: of those, too, only so many are kept.
        if before.is_none() && matches!(entry.subject, Subject::Deployment(_)) {
            self.end(entry.subject);
        }
        true
    }

    /// Nothing more will happen to a subject.
    pub fn end(&mut self, subject: Subject) {
        self.ended.push_back(subject);
        if self.ended.len() > ENDED
            && let Some(oldest) = self.ended.pop_front()
        {
            self.newest.remove(&oldest);
        }
    }

    /// A subject that was over is not.
    pub fn revive(&mut self, subject: Subject) {
        self.ended.retain(|ended| *ended != subject);
    }
}
