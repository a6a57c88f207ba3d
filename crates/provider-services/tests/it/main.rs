//! The program, run as processes.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stderr
)]

#[cfg(target_os = "linux")]
#[path = "../../../provider-kube/tests/it/bed/mod.rs"]
mod bed;
mod cli;
#[cfg(target_os = "linux")]
#[path = "../../../provider-operators/tests/it/common/mod.rs"]
mod common;
mod kill;
#[cfg(target_os = "linux")]
mod real;
