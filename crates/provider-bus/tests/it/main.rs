//! The bus over a real Redis, and its documentation.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

mod docs;
mod events;
mod redis;
mod sentinel;
mod support;
mod tls;
