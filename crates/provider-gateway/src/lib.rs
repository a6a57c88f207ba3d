//! The gateway: where tenants reach the provider.
//!
//! ```text
//!  8443  HTTP/1.1 ──► Gateway::rest ──► rest/  ──┐            ┌─► Provider (engine, chain)
//!                                   └─► stream/ ─┼─► port/ ───┤
//!  8444  gRPC ──────► Rpc::call ──────► rpc/  ───┘            └─► Cluster (status, logs, exec)
//!                          each request: Gatekeeper first
//! ```
//!
//! - [`port`]: what the gateway needs of the rest of the provider.
//! - [`rest`]: what is asked and answered once.
//! - [`stream`]: logs, events and shells over WebSocket.
//! - [`rpc`]: the same things over gRPC.
//!
//! Knows neither the chain nor which cluster it is: what a tenant asks for is read through ports.

mod gateway;
pub mod port;
pub mod rest;
pub mod rpc;
pub mod stream;

pub use gateway::{Gateway, Metrics, Settings};
