//! Beds of every size.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod api;
mod common;
mod control_plane;
mod node;
