//! What outlives the process: the height cursor, the journal, and the history of leases.
//!
//! ```text
//!  engine task ── Batch ──► commit: one transaction, one fsync ──► file
//!  ctl, status ── why, recent, earnings ◄────────────────────────── file
//! ```
//!
//! Nothing here is needed to converge. A file that cannot be used is moved aside and a new one is
//! begun; one that fails at run time is an error, and whoever calls decides what that means. After
//! such a failure the next call opens the file anew: once there is room again, writing goes on.
//!
//! Every call blocks for as long as the disk takes. The store has no clock of its own: what is old
//! is judged by block time.
//!
//! Must not know: what follows from a decision, how it is shown, where the file should be.

mod batch;
mod format;
mod history;
mod open;
mod read;
mod record;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use akash_types::with_causes;

pub use batch::{Batch, ClusterEvent, LeaseChange, LeaseEvent, Moment};
pub use history::{LeaseHistory, Retention};
pub use open::{Found, Opened, Store};
pub use record::{Record, kind};

/// How the store is doing, for status and metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreHealth {
    /// Bytes that the file takes; absent for a store in memory, or if nobody can tell.
    pub size: Option<u64>,
    /// Batches that were kept since the start.
    pub commits: u64,
    /// Batches that were not.
    pub failures: u64,
    /// How long the last one took, kept or not.
    pub last_commit: Option<Duration>,
    /// Why the last one was not kept; absent if it was.
    pub problem: Option<String>,
}

impl StoreHealth {
    fn note<E: std::error::Error>(&mut self, took: Duration, result: &Result<(), E>) {
        self.last_commit = Some(took);
        match result {
            Ok(()) => {
                self.commits = self.commits.saturating_add(1);
                self.problem = None;
            }
            Err(error) => {
                self.failures = self.failures.saturating_add(1);
                self.problem = Some(with_causes(error));
            }
        }
    }
}

/// Why a call to the store did not do what it should. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the store's disk refused: {0}")]
    Disk(#[source] io::Error),
    #[error("the store's file is damaged: {0}")]
    Damaged(String),
    #[error("row {row} of the store cannot be read")]
    Row { row: String, source: serde_json::Error },
    #[error("the store cannot be opened again after a failure")]
    Reopen(#[source] Box<OpenError>),
    #[error("the store failed")]
    Other(#[source] Box<redb::Error>),
}

impl StoreError {
    /// Whether the disk has no room: deleting something would help.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Disk(error) => is_full(error),
            Self::Reopen(error) => error.is_full(),
            _ => false,
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(
        "the store {path} is in use by another process; end that one, or give this one a path of its own"
    )]
    Locked { path: PathBuf },
    #[error("the store {path} cannot be opened: {source}")]
    Disk { path: PathBuf, source: io::Error },
    #[error("the store {path} cannot be used ({why}) and cannot be moved aside: {source}")]
    Stuck {
        path: PathBuf,
        why: String,
        /// What moving it said.
        source: io::Error,
    },
    #[error("the new store {path} cannot be used: {why}")]
    Unusable { path: PathBuf, why: String },
}

impl OpenError {
    /// Whether the disk has no room: deleting something would help.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Disk { source, .. } | Self::Stuck { source, .. } => is_full(source),
            Self::Locked { .. } | Self::Unusable { .. } => false,
        }
    }
}

/// Whatever redb says, as one of ours. It has an error type for each step.
fn failure(error: impl Into<redb::Error>) -> StoreError {
    match error.into() {
        redb::Error::Io(error) => StoreError::Disk(error),
        redb::Error::PreviousIo => StoreError::Disk(io::Error::other("it failed before")),
        redb::Error::Corrupted(what) => StoreError::Damaged(what),
        error @ (redb::Error::TableTypeMismatch { .. }
        | redb::Error::TableDoesNotExist(_)
        | redb::Error::TypeDefinitionChanged { .. }) => StoreError::Damaged(error.to_string()),
        error => StoreError::Other(Box::new(error)),
    }
}

#[cfg(test)]
mod tests;
