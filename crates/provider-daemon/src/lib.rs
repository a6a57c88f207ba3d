//! The provider at work: the engine's decisions carried out, on a chain and a cluster.
//!
//! A library, so that tests can start it. Must not know how the command line is written.

pub mod health;
pub mod metrics;
pub mod script;
pub mod store;
