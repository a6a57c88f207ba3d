//! Operators: what keeps a cluster as the provider's custom resources say.
//!
//! - [`hostname`]: a route for every hostname that a lease has.
//! - [`Listener`]: where one is asked how things are.
//!
//! An operator runs inside the provider or in a process of its own; it knows the cluster alone, and
//! neither the chain nor the gateway.
#![allow(missing_docs)]

pub mod hostname;
mod listener;

pub use listener::Listener;
