//! What containers wrote.

use std::future::Future;

use akash_types::LeaseId;

use super::ReadFailure;
use super::inspect::ServiceChoice;

/// Longest text of one [`LogPart::Text`], in bytes; longer lines come in several parts.
pub const MAX_LOG_TEXT: usize = 32 * 1024;

/// Reads logs.
pub trait Logs: Send + Sync {
    /// What [`Logs::logs`] gives.
    type Lines: LogLines + 'static;

    /// What the containers of a lease wrote. A replica that has not started yet has written
    /// nothing, which is no failure.
    /// Not found: `Lease`, `Workloads`, `Service`.
    fn logs(
        &self,
        lease: LeaseId,
        query: LogQuery,
    ) -> impl Future<Output = Result<Self::Lines, ReadFailure>> + Send;
}

/// Which lines are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogQuery {
    /// Of which services, all replicas of each.
    pub services: ServiceChoice,
    /// At most so many of the newest lines of each replica; all that are kept if `None`.
    pub tail: Option<u64>,
    /// Whether to go on with what is written from now on, through restarts and new replicas.
    pub follow: bool,
    /// The container before the last restart instead of the one that runs. Such a container
    /// writes nothing any more: nothing is followed.
    pub previous: bool,
}

/// Parts of logs: in order for each replica, mixed between replicas.
pub trait LogLines: Send {
    /// The next part; `None` at the end. One that follows has no end but the lease's.
    /// Fails when it breaks off; not found, if the lease is gone.
    fn next(&mut self) -> impl Future<Output = Result<Option<LogPart>, ReadFailure>> + Send;
}

/// A part of logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogPart {
    /// A line or a piece of one, without its line break.
    Text {
        /// Of which service.
        service: String,
        /// Of which replica.
        replica: String,
        /// At most [`MAX_LOG_TEXT`] bytes. What is no UTF-8 was replaced.
        text: String,
        /// Whether the line goes on in the next part of the same replica.
        continues: bool,
    },
    /// The replica's container, or the replica itself, ended; what follows is of its successor.
    Break {
        /// Of which service.
        service: String,
        /// Which replica ended.
        replica: String,
        /// What happened, in words; also whether lines may be missing.
        note: String,
    },
}
