//! The provider at work: the engine's decisions carried out, on a chain and a cluster.
//!
//! ```text
//! start        every part, in order; stopped together
//! engine_task  the one owner of the engine: drain, handle, keep, start effects
//! chain        blocks in, questions answered, which node is asked
//! cluster      what the cluster looks like
//! part         where each part is in its life, and starting it again
//! run          a provider from its settings to its end
//! keeper       the store, the metrics, the bus and the log, told of everything
//! overseer     what operators and probes ask, answered from what was last seen
//! announce     what others hear on the bus
//! store        cursor, journal and history; may vanish
//! script       the price script, with limits
//! metrics      what is counted and measured
//! health       metrics and probes over HTTP
//! config       what the operator set, validated whole
//! ctl          the operator's socket
//! descriptors  open files: the limit, and how many of them clients get
//! gateway      where tenants connect
//! gateway_figures  what it counts, for metrics and the log
//! isolation    whether tenants are kept apart, probed
//! errands      what others than the engine bring to the chain
//! log          what is logged, and how
//! ```
//!
//! A library, so that tests can start it. Must not know how the command line is written.

#![allow(missing_docs)]

pub mod announce;
pub mod chain;
mod cluster;
pub mod config;
pub mod ctl;
mod descriptors;
pub mod engine_task;
mod gateway;
mod gateway_figures;
pub mod health;
mod isolation;
mod keeper;
pub mod log;
pub mod metrics;
mod overseer;
pub mod part;
mod run;
pub mod script;
mod start;
pub mod store;

pub use engine_task::{Busy, Handle};
pub use gateway::GatewayError;
pub use gateway_figures::GatewayFigures;
pub use keeper::Errands;
pub use overseer::{Identity, Overseer};
pub use run::{Build, RunError, run};
pub use start::{Ended, Running, Setup, StartError, start};
