//! The simulated cluster as a driver and as a process.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

mod contract;
mod server;
