//! The follower and the lane together, on a devnet behind proxies, while everything breaks that can.
//!
//! `CHAOS_SEED=7 cargo test -p akash-chain --test chaos` repeats one run, `CHAOS_SEED=50..100` many.

// Helpers of tests are tests, but clippy does not see that.
#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, clippy::print_stderr)]

#[path = "chaos/behind.rs"]
mod behind;
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
