//! The gateway over real sockets.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stderr
)]

mod authorization;
mod bounds;
mod common;
mod flood;
mod leases;
mod own_certificate;
mod real;
mod recorded_auth;
mod rest;
mod rpc;
mod secured;
mod shell;
mod stream;
mod tls;
