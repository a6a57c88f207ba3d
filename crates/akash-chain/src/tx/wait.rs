//! Waiting for a transaction to be in a block.

use std::time::Duration;

use tokio::time::Instant;

use super::{TxFound, TxHash};
use crate::query::{Node, QueryError};

/// How often and how long to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Time between two looks.
    pub every: Duration,
    /// When to give up.
    pub at_most: Duration,
}

impl Default for Wait {
    /// Every second for thirty seconds, as in Go.
    fn default() -> Self {
        Self { every: Duration::from_secs(1), at_most: Duration::from_secs(30) }
    }
}

/// Why a transaction was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WaitError {
    /// It was in no block in time. It may come yet.
    #[error("transaction {hash} was in no block within {after:?}")]
    NotIncluded {
        /// Its name.
        hash: TxHash,
        /// How long was waited.
        after: Duration,
    },
    /// The node did not say. It may be in a block.
    #[error(transparent)]
    Query(#[from] QueryError),
}

/// Looks for a transaction until it is in a block.
/// A failure does not say that it never will be in one.
pub async fn wait_for(node: &Node, hash: TxHash, wait: Wait) -> Result<TxFound, WaitError> {
    let deadline = Instant::now() + wait.at_most;
    loop {
        if let Some(found) = node.tx(hash).await? {
            return Ok(found);
        }
        let next = Instant::now() + wait.every;
        if next > deadline {
            return Err(WaitError::NotIncluded { hash, after: wait.at_most });
        }
        tokio::time::sleep_until(next).await;
    }
}
