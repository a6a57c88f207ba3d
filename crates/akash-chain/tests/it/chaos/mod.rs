//! The follower and the lane together, on a devnet behind proxies, while everything breaks that can.
//!
//! `CHAOS_SEED=7 cargo test -p akash-chain --test chaos` repeats one run, `CHAOS_SEED=50..100` many.

mod behind;
mod chance;
mod ours;
mod run;
mod tenants;
mod trouble;
mod verdict;
mod world;
