//! Doing what was decided.

use std::future::Future;

use crate::cluster::command::{CommandFailure, Operation};

/// Carries out operations.
pub trait Execute: Send + Sync {
    /// Carries out one operation. What `Ok` says depends on it:
    ///
    /// - `Hold`: the manifest is kept and survives a crash of everything;
    /// - `Deploy`: the same, and all that the cluster needs to run it is written. Whether it runs
    ///   is for [`Observe`](super::Observe) to say;
    /// - `Teardown`: the cluster has taken it upon itself that all of it ends; the view says when
    ///   nothing is left. For a lease of which nothing is there, that is at once;
    /// - `Maintain`: it is remembered as durably as a manifest.
    /// [`CommandFailure::Unavailable`] if no answer came: it may have been done all the same.
    /// [`CommandFailure::Refused`] if asking again is of no use.
    fn execute(
        &self,
        operation: Operation,
    ) -> impl Future<Output = Result<(), CommandFailure>> + Send;
}
