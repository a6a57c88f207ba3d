//! A cluster in a process of its own: its state in a file, its port on loopback, and pages that say
//! what they pretend to be.
//!
//! ```text
//! remote ── lines of JSON ──► session ─┐
//! browser ── HTTP by Host ──► web ─────┴─► SimDriver ──► core ──► store
//! ```
//!
//! Whoever can reach the port can do everything, so it listens on loopback only.

mod session;
mod start;
mod web;

pub use start::{Server, ServerConfig, ServerError};
