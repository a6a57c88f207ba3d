//! What tests of several crates share. Never part of the product.
//!
//! - [`proxy`]: a TCP proxy whose faults are switched while connections are open.
//!
//! Must not know any other crate of the project: whoever is tested brings its own.

pub mod proxy;
