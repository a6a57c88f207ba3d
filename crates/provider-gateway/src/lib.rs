//! The gateway: where tenants reach the provider.
//!
//! - [`tls`]: connections: certificates, handshakes, limits, and HTTP on top.
//! - [`certs`]: the certificates that are shown, kept good.
//! - [`auth`]: who is asking, and what they may do.
//!
//! Knows the chain only as where keys and certificates are looked up, and no cluster at all:
//! what a tenant asks for is read through ports.

pub mod auth;
pub mod certs;
pub mod tls;
