//! Hostnames on a real API server, through the provider as tenants use it: their routes are what was
//! asked for last, whatever happens to the provider meanwhile.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::print_stderr)]

mod blocked;
#[path = "../installed/mod.rs"]
mod installed;
mod killed;
mod stage;
mod world;
