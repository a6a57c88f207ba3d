//! What a provider's gateway speaks, and a client of it.
//!
//! - [`status`]: the documents that a provider answers with, about itself and about leases.
//! - [`path`], [`query`], [`migrate`], [`screening`]: what is asked for, and how.
//! - [`stream`]: frames of logs, events and shells, and the codes that streams end with.
//! - [`error`]: what went wrong, as a text for people and a code for programs.
//! - [`json`]: JSON written as the Go program writes it.
//! - [`jwt`]: tokens, read, checked and made.
//! - [`client`]: a client of all of it, for the command line and for tests.
//!
//! Knows neither the server nor any cluster. Manifests are `akash-sdl`'s, with their own JSON.

pub mod client;
pub mod error;
pub mod json;
pub mod jwt;
pub mod migrate;
pub mod path;
pub mod query;
pub mod screening;
pub mod status;
pub mod stream;
