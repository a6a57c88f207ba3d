//! Whole systems, used as operators and tenants use them.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout
)]

#[cfg(target_os = "linux")]
mod attack;
mod chain_faults;
mod console;
mod daemon;
mod devnet_clients;
mod gateway_clients;
mod guides;
#[cfg(target_os = "linux")]
mod lost_cluster;
mod money;
mod quickstart;
#[cfg(target_os = "linux")]
mod real;
mod tenant;
