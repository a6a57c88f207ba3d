//! The hostname operator: every `ProviderHost` has its route, and nothing else has one.
//!
//! ```text
//!  ProviderHost ─▶ claim ─┐
//!                         ├─▶ reconcile ── one write ──▶ API server
//!  Manifest ───▶ exposed ─┤     ▲  │
//!                         │     │  └─ build
//!  Ingress, HTTPRoute ────┘     └── what came of it
//!
//!  EndpointSlice ─▶ backends ─▶ how a host is: metrics, rest, rpc
//! ```
//!
//! What decides, without IO or clock:
//!
//! - [`name`]: which hostnames are served at all.
//! - [`claim`]: who wants a hostname, and for which port.
//! - [`exposed`]: the ports that a lease opens, and how they are to be served.
//! - [`build`]: the route, equal to what the Go operator makes.
//! - [`reconcile`]: host by host, what to write next.
//! - [`backends`]: which services have somebody who answers.
//! - [`figures`]: what is counted.
//!
//! What does it:
//!
//! - [`HostnameOperator`]: watches, and writes; tells tenants why a host of theirs is not served.
//! - [`rest`]: what is served and what is not, over HTTP.
//! - [`rpc`]: whether hosts answer, over gRPC.
//!
//! A host that cannot be served holds up no other one.

pub mod backends;
pub mod build;
pub mod claim;
pub mod exposed;
pub mod figures;
pub mod name;
mod notice;
mod operator;
pub mod reconcile;
pub mod rest;
pub mod rpc;
pub mod settings;

pub use operator::HostnameOperator;
pub use settings::{Implementation, Routes, Settings};
