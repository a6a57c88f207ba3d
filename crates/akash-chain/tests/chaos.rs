//! The follower and the lane together, on a devnet behind proxies, while everything breaks that can.
//!
//! `CHAOS_SEED=7 cargo test -p akash-chain --test chaos` repeats one run.

// Helpers of tests are tests, but clippy does not see that.
#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, clippy::print_stderr)]

#[path = "chaos/chance.rs"]
mod chance;
#[path = "chaos/ours.rs"]
mod ours;
#[path = "chaos/run.rs"]
mod run;
#[path = "chaos/tenants.rs"]
mod tenants;
#[path = "chaos/trouble.rs"]
mod trouble;
#[path = "chaos/verdict.rs"]
mod verdict;
#[path = "chaos/world.rs"]
mod world;
