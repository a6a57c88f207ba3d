//! The hostname operator against recordings and on a real API server.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

#[cfg(target_os = "linux")]
#[path = "../../../provider-kube/tests/it/bed/mod.rs"]
mod bed;
#[cfg(target_os = "linux")]
mod common;
mod golden;
#[cfg(target_os = "linux")]
mod real;
