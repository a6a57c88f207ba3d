//! What comes back: a value and the height it was read at.

use std::fmt;

use super::Malformed;

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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Unreadable {
    /// Its id as the node wrote it, as far as there is one.
    pub item: String,
    /// What is wrong with it.
    pub source: Malformed,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be read", self.item)
    }
}
