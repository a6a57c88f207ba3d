//! The gateway: where tenants reach the provider.
//!
//! ```text
//!  8443  HTTP/1.1 ──► tls ──► Gateway::rest ──► rest/  ──┐            ┌─► Provider (engine, chain)
//!                                          └──► stream/ ─┼─► port/ ───┤
//!  8444  gRPC ──────► tls ──► Rpc::call ──────► rpc/  ───┘            └─► Cluster (status, logs, exec)
//!                                 each request: Authorizer first
//! ```
//!
//! - [`tls`]: connections: certificates, handshakes, limits, and HTTP on top.
//! - [`certs`]: the certificates that are shown, kept good.
//! - [`auth`]: who is asking, and what they may do.
//! - [`port`]: what the gateway needs of the rest of the provider.
//! - [`rest`]: what is asked and answered once.
//! - [`stream`]: logs, events and shells over WebSocket.
//! - [`rpc`]: the same things over gRPC.
//!
//! Knows the chain only as where keys and certificates are looked up, and not which cluster it is:
//! what a tenant asks for is read through ports.

#![allow(missing_docs)]

pub mod auth;
pub mod certs;
mod gateway;
mod places;
pub mod port;
pub mod rest;
pub mod rpc;
pub mod stream;
pub mod tls;
mod turns;

pub use gateway::{Gateway, Metrics, ScrapeToken, Settings};
pub use places::Budget;
