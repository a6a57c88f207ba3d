//! The operator's socket: one question a line, one answer a line, both JSON.
//!
//! ```text
//! provider-services ctl ──► socket ──► server ──► answer ──► Operate (the engine's handle)
//!                     wire::Request              wire::Response
//! ```
//!
//! [`wire`] is what both sides write. [`Operate`] is what the server needs of the provider. The
//! socket belongs to the user that runs the provider; nobody but that user and root is answered.
//! Must not know how questions are typed or answers are shown.

mod answer;
mod server;
mod socket;
mod subject;
#[cfg(test)]
mod tests;
pub mod wire;

pub use server::{CtlServer, Operate, Unavailable};
pub use socket::BindError;
pub use subject::{ReasonNameError, reason_from};
