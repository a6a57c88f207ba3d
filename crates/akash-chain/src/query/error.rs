//! Why a question has no answer.

use super::{Failure, Unavailable};

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
