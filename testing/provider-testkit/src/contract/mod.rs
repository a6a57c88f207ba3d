//! What every driver of a cluster must do, clause by clause.
//!
//! A driver's test implements [`Harness`]: it makes a cluster, can restart the driver, and can break
//! the way to the cluster. [`run_all`] then tries every clause that the cluster can be tried on and
//! reports each: held, broken and how, or left out and why. Each clause is a function as well, for
//! whoever works on one. A clause deploys under leases of its own and tears them down.
//!
//! The suite knows no driver. What it runs is written as [`Program`]s, which a harness translates
//! into images and commands.

mod case;
mod clauses;
mod harness;
mod report;
mod watch;

pub use clauses::{exec, expose, life, logs, observe, run_all, run_together, safety, status};
pub use harness::{Capabilities, Harness, Program};
pub use report::{Breach, Report, Verdict};
pub use watch::Watch;
