//! What was decided, and why.
//!
//! Every decision is an [`Entry`]: when, about what, and a typed [`Decision`] that carries what
//! mattered. The daemon keeps them on disk and answers `why` from there; the engine remembers the
//! newest of each subject only, so that it says nothing twice in a row.

mod decision;
mod memory;

use std::fmt;

use akash_types::{DeploymentId, OrderId};

pub use decision::{Decision, SpareReason};
pub use memory::Journal;

use crate::time::BlockTime;

/// What a decision is about. An order, its bid and its lease are one subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// An order and what became of it.
    Order(OrderId),
    /// A deployment: its manifest.
    Deployment(DeploymentId),
    /// The provider as a whole.
    Provider,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order(order) => write!(f, "{order}"),
            Self::Deployment(deployment) => write!(f, "{deployment}"),
            Self::Provider => f.write_str("provider"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Height of the newest block then.
    pub height: u64,
    pub time: BlockTime,
    pub subject: Subject,
    pub decision: Decision,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "height {}: {}", self.height, self.decision)
    }
}
