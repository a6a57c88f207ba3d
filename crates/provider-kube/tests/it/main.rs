//! The Kubernetes driver against recordings and on a real API server.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

#[cfg(target_os = "linux")]
mod bed;
mod golden;
mod observed;
#[cfg(target_os = "linux")]
mod real;
