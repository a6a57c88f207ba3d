//! What can go wrong with the store.

use std::io;
use std::path::PathBuf;

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
pub(super) fn failure(error: impl Into<redb::Error>) -> StoreError {
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
