//! The hostname operator: every `ProviderHost` has its route, and nothing else has one.
//!
//! ```text
//!  ProviderHost ─▶ claim ─┐
//!                         ├─▶ reconcile ── one write ──▶ API server
//!  Manifest ─────▶ offer ─┤     ▲  │
//!                         │     │  └─ build
//!  Ingress, HTTPRoute ────┘     └── what came of it
//! ```
//!
//! What decides, without IO or clock:
//!
//! - [`name`]: which hostnames are served at all.
//! - [`claim`]: who wants a hostname, and for which port.
//! - [`offer`]: the ports that a lease opens, and how they are to be served.
//! - [`build`]: the route, equal to what the Go operator makes.
//! - [`reconcile`]: host by host, what to write next.
//!
//! What does it:
//!
//! - [`HostnameOperator`]: watches, and writes.
//! - [`rest`]: what is served and what is not, over HTTP.
//!
//! A host that cannot be served holds up no other one.

pub mod build;
pub mod claim;
pub mod name;
pub mod offer;
mod operator;
pub mod reconcile;
pub mod rest;
pub mod settings;

pub use operator::HostnameOperator;
pub use settings::{Routes, Settings};
