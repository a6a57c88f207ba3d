//! How the store is doing.

use std::time::Duration;

use akash_types::with_causes;

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
    pub(super) fn note<E: std::error::Error>(&mut self, took: Duration, result: &Result<(), E>) {
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
