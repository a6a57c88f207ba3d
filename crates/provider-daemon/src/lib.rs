//! The provider at work: the engine's decisions carried out, on a chain and a cluster.
//!
//! ```text
//! start        every part, in order; stopped together
//! engine_task  the one owner of the engine: drain, handle, keep, start effects
//! chain        blocks in, questions answered, which node is asked
//! cluster      what the cluster looks like
//! part         where each part is in its life, and starting it again
//! announce     what others hear on the bus
//! config       what the operator set, validated whole
//! ctl          the operator's socket
//! log          what is logged, and how
//! ```
//!
//! A library, so that tests can start it. Must not know how the command line is written.

pub mod announce;
pub mod chain;
mod cluster;
pub mod config;
pub mod ctl;
pub mod engine_task;
pub mod log;
pub mod part;
mod start;

pub use engine_task::{Busy, Handle};
pub use start::{Ended, Running, Setup, StartError, start};
