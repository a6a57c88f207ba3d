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
mod execute;
mod failure;
mod inspect;
mod logs;
mod observe;
mod status;

pub use exec::{Exec, ExecFailure, ExecInput, ExecOutput, ExecRequest, Input, Output, Terminal};
pub use execute::Execute;
pub use failure::{Missing, ReadFailure};
pub use inspect::{
    ClusterEvent, EventKind, EventQuery, EventStream, Inspect, ObjectRef, ServiceChoice,
};
pub use logs::{LogLines, LogPart, LogQuery, Logs, MAX_LOG_TEXT};
pub use observe::{Changes, Observe};
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
