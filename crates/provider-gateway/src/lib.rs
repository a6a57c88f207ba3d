//! The gateway: where tenants reach the provider.
//!
//! - [`auth`]: who is asking, and what they may do.
//!
//! Knows the chain only as where keys and certificates are looked up, and no cluster at all:
//! what a tenant asks for is read through ports.

pub mod auth;
