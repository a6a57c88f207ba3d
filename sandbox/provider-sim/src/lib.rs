//! A simulated cluster behind the same port as the real ones: nothing runs, everything behaves.
//!
//! ```text
//! core     the cluster: nodes, scheduler, pods, faults; a machine without IO, clock or tokio
//! driver   the port over a core that lives in this process, with real time
//! server   a core in a process of its own, with its state in a file
//! remote   the port over such a process
//! ```
//!
//! Newcomers use it instead of Kubernetes, tests instead of either, and the deterministic
//! simulation drives the [`core`] directly. It says that it is simulated wherever it shows.
//!
//! It knows neither the chain nor the gateway: it is told what to run.
#![allow(missing_docs)]

pub mod core;
pub mod driver;
mod link;
pub mod remote;
pub mod server;
pub mod store;
mod wire;
