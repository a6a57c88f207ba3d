//! The chain that the devnet runs: its rules, its server, and a transaction lane on it.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

mod lane;
mod server;
mod state;
