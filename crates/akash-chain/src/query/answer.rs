//! What comes back: a value and the height it was read at.

use super::{Failure, Malformed, Unavailable};

/// An answer of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<T> {
    /// What was asked for.
    pub value: T,
    /// Height of the state it was read from, where the node says so, also of things that are
    /// not there. Of a list the lowest of its pages.
    pub height: Option<u64>,
}

impl<T> Answer<T> {
    /// The same answer about something else.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Answer<U> {
        Answer { value: change(self.value), height: self.height }
    }
}

/// A list, read to its last page.
///
/// One thing that makes no sense does not hide the others: tenants choose much of what stands in
/// an order, and one of them must not be able to stop a provider from seeing the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T> {
    /// The things, in the node's order. Blocks may pass between two pages: a thing that changes
    /// state meanwhile may be listed twice or, where a state was asked for, not at all.
    pub items: Vec<T>,
    /// What was listed and could not be read.
    pub unreadable: Vec<Unreadable>,
}

impl<T> List<T> {
    pub(super) const fn new() -> Self {
        Self { items: Vec::new(), unreadable: Vec::new() }
    }
}

/// Something listed that has no meaning here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, derive_more::Display)]
#[display("{} cannot be read", self.item)]
pub struct Unreadable {
    /// Its id as the node wrote it, as far as there is one.
    pub item: String,
    /// What is wrong with it.
    pub source: Malformed,
}

/// A question that could not be answered.
///
/// A thing that does not exist is no error where one thing is asked for: that answer is `None`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read {asked} from the chain")]
pub struct QueryError {
    asked: String,
    #[source]
    failure: Failure,
}

impl QueryError {
    pub(crate) fn new(asked: impl Into<String>, failure: impl Into<Failure>) -> Self {
        Self { asked: asked.into(), failure: failure.into() }
    }

    /// What was asked for.
    pub fn asked(&self) -> &str {
        &self.asked
    }

    /// What went wrong.
    pub const fn failure(&self) -> &Failure {
        &self.failure
    }

    /// Whether the same question may be answered later, or by another node.
    pub const fn is_transient(&self) -> bool {
        self.failure.is_transient()
    }

    /// Whether nobody answered, as opposed to an answer that helps nobody.
    pub const fn unavailable(&self) -> Option<&Unavailable> {
        match &self.failure {
            Failure::Unavailable(unavailable) => Some(unavailable),
            _ => None,
        }
    }
}
