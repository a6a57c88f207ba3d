//! What was decided, and why.
//!
//! Every decision is an [`Entry`]: when, about what, and a typed [`Decision`] that carries what
//! mattered. The daemon keeps them on disk and answers `why` from there; the engine remembers the
//! newest of each subject only, so that it says nothing twice in a row.

mod decision;

use std::collections::{BTreeMap, VecDeque};

use akash_types::{DeploymentId, OrderId};

use crate::time::BlockTime;

pub use decision::{Decision, SpareReason};

/// What a decision is about. An order, its bid and its lease are one subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, derive_more::Display)]
pub enum Subject {
    #[display("{_0}")]
    Order(OrderId),
    #[display("{_0}")]
    Deployment(DeploymentId),
    #[display("provider")]
    Provider,
}

#[derive(Clone, Debug, PartialEq, Eq, derive_more::Display)]
#[display("height {}: {}", self.height, self.decision)]
pub struct Entry {
    /// Height of the newest block then.
    pub height: u64,
    pub time: BlockTime,
    pub subject: Subject,
    pub decision: Decision,
}

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

    pub fn revive(&mut self, subject: Subject) {
        self.ended.retain(|ended| *ended != subject);
    }
}
