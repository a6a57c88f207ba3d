//! What a driver must be able to do, whatever runs the workloads.
//!
//! ```text
//!            Execute   one operation, done twice with the effect of once
//! Cluster ── Observe   everything once, then every change
//!            Inspect   status, manifest and events of a lease, for its tenant
//!            Logs      what its containers wrote
//!            Exec      a command in one of its containers
//! ```
//!
//! The traits have async functions and no runtime: who implements and who calls them agree on one.
//! Every future may be dropped at any moment. A dropped `execute` may or may not have happened, and
//! is asked again.
//!
//! Three failures are told apart everywhere. *Not found* is positive: the cluster answered, and the
//! thing is not there. *Unavailable* says nothing about the thing. *Refused* would be refused again.
//!
//! The suite of clauses that every driver passes is `provider_testkit::contract`.

mod exec;
mod inspect;
mod logs;
mod status;

use std::future::Future;

use crate::cluster::command::{CommandFailure, Operation};
use crate::cluster::view::ViewChange;

pub use exec::{Exec, ExecFailure, ExecInput, ExecOutput, ExecRequest, Input, Output, Terminal};
pub use inspect::{
    ClusterEvent, EventKind, EventQuery, EventStream, Inspect, ObjectRef, ServiceChoice,
};
pub use logs::{LogLines, LogPart, LogQuery, Logs, MAX_LOG_TEXT};
pub use status::{
    Counts, ForwardedPort, LastExit, LeaseStatus, LeasedIp, Phase, ServiceStatus, Transport,
};

/// All that a driver does. Cloning is cheap, and every clone is the same cluster.
pub trait Cluster:
    Execute + Observe + Inspect + Logs + Exec + Clone + Send + Sync + 'static
{
}

impl<D> Cluster for D where
    D: Execute + Observe + Inspect + Logs + Exec + Clone + Send + Sync + 'static
{
}

/// Carries out operations.
pub trait Execute: Send + Sync {
    /// Carries out one operation. What `Ok` says depends on it:
    ///
    /// - `Hold`: the manifest is kept and survives a crash of everything;
    /// - `Deploy`: the same, and all that the cluster needs to run it is written. Whether it runs
    ///   is for [`Observe`] to say;
    /// - `Teardown`: the cluster has taken it upon itself that all of it ends; the view says when
    ///   nothing is left. For a lease of which nothing is there, that is at once;
    /// - `Maintain`: it is remembered as durably as a manifest.
    ///
    /// [`CommandFailure::Unavailable`] if no answer came: it may have been done all the same.
    /// [`CommandFailure::Refused`] if asking again is of no use.
    fn execute(
        &self,
        operation: Operation,
    ) -> impl Future<Output = Result<(), CommandFailure>> + Send;
}

/// Why something could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadFailure {
    /// The cluster answered: it is not there.
    #[error("{0}")]
    NotFound(Missing),
    /// The cluster did not answer; nothing follows from that.
    #[error("the cluster does not answer: {0}")]
    Unavailable(String),
    /// The cluster answered that it will not say.
    #[error("the cluster refuses: {0}")]
    Refused(String),
}

/// What is not there. Clients are told apart by which it is.
#[derive(Clone, Debug, PartialEq, Eq, derive_more::Display)]
pub enum Missing {
    /// Nothing of the lease, or no manifest for it.
    #[display("lease not found")]
    Lease,
    /// A manifest is held, but nothing was deployed from it yet.
    #[display("no deployments for lease")]
    Workloads,
    /// The lease has no service of that name.
    #[display("no service {_0:?} for that lease")]
    Service(String),
}

/// Watches the cluster.
pub trait Observe: Send + Sync {
    /// What [`Observe::observe`] gives.
    type Changes: Changes + 'static;

    /// Begins to watch. There is no failure: a cluster that does not answer is what
    /// [`Changes::next`] tells first.
    fn observe(&self) -> Self::Changes;
}

/// What is seen, in order.
///
/// The first is [`ViewChange::Whole`], or [`ViewChange::Lost`] while the cluster does not answer.
/// After `Lost` the next is `Whole`. It never ends by itself, and it reconnects by itself, without
/// haste.
pub trait Changes: Send {
    /// Waits for the next change. Dropping the future loses none.
    fn next(&mut self) -> impl Future<Output = ViewChange> + Send;
}
