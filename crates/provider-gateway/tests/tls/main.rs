//! Connections over real sockets.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::expect_used)]

mod clients;
mod limits;
mod protocol;
mod server;
mod shown;
mod support;
