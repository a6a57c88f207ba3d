//! A small HTTP server for those who watch: metrics, and whether the provider is alive and ready.
//!
//! | path | answers |
//! |---|---|
//! | `/metrics` | [`Probe::metrics`] |
//! | `/healthz` | 200 as long as the process answers at all |
//! | `/readyz` | 200, or 503 with what is missing, as JSON |
//! | anything else | 404 |
//!
//! Liveness says nothing of chain and cluster on purpose: ending a process because a node is down
//! ends what it could still do, and helps nobody.
//!
//! The server reads through [`Probe`] and never waits for a busy part. It is open to whoever can
//! reach it, so every connection has limits: in number, in time, in size. Each serves one request.
//!
//! Must not know: where the answers come from.

mod readiness;
mod server;
#[cfg(test)]
mod tests;

pub use provider_api::status::{Missing, Readiness};
pub(crate) use readiness::keep_judging;
pub use server::{HealthServer, Limits};

use crate::metrics::Format;

/// What the server shows. Answers come from what was last seen, at once.
pub trait Probe: Send + Sync + 'static {
    fn metrics(&self, format: Format) -> String;

    /// Whether the provider can do its work.
    fn readiness(&self) -> Readiness;
}
