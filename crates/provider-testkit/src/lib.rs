//! What tests of several crates share. Never part of the product.
//!
//! - [`contract`]: what every driver of a cluster must do, clause by clause.
//! - [`proxy`]: a TCP proxy whose faults are switched while connections are open.
//! - [`simulation`]: a provider simulated to death, seed by seed.

pub mod contract;
pub mod proxy;
pub mod simulation;
