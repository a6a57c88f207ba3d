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
mod error;
mod format;
mod history;
mod open;
mod read;
mod record;

use std::time::Duration;

use akash_types::with_causes;

pub use batch::{Batch, ClusterEvent, LeaseChange, LeaseEvent, Moment};
pub use error::{OpenError, StoreError};
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

#[cfg(test)]
mod tests;
