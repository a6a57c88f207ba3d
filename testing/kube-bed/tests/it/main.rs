//! Beds of every size.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod real;
