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
mod bus;
mod chain_faults;
mod console;
mod daemon;
mod devnet_clients;
#[cfg(target_os = "linux")]
mod disk;
mod flags;
#[cfg(target_os = "linux")]
mod gateway_calls;
mod gateway_clients;
mod grpc_front;
mod guides;
#[cfg(target_os = "linux")]
mod lost_cluster;
mod money;
mod node_tls;
#[cfg(target_os = "linux")]
mod offers;
mod quickstart;
#[cfg(target_os = "linux")]
mod readiness;
#[cfg(target_os = "linux")]
mod real;
mod records;
mod reload;
mod tenant;
