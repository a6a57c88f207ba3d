//! What tests of several crates share. Never part of the product.
//!
//! - [`bed`]: a devnet with a tenant and a provider, in this process.
//! - [`bidder`]: the least that follows blocks and bids, for tests of what lies below it.
//! - [`contract`]: what every driver of a cluster must do, clause by clause.
//! - [`disk`]: a disk that is soon full.
//! - `kube`, a feature: deployments that the Go provider made, and whether ours are equal.
//! - [`pebble`]: a real ACME authority.
//! - [`proxy`]: a TCP proxy whose faults are switched while connections are open.
//! - [`simulation`]: a provider simulated to death, seed by seed.
#![allow(missing_docs)]

pub mod bed;
pub mod bidder;
pub mod contract;
pub mod disk;
#[cfg(feature = "kube")]
pub mod kube;
pub mod pebble;
pub mod proxy;
#[allow(missing_docs)]
pub mod simulation;
