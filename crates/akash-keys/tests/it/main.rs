//! Keys and certificates against files and services that other programs made.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stderr
)]

mod certificate;
mod go;
mod keyring;
#[cfg(target_os = "linux")]
mod secret_service;
#[cfg(target_os = "linux")]
mod support;
