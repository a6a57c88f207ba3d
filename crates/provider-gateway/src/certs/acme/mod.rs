//! A certificate of an authority, asked for with ACME.
//!
//! ```text
//!            ┌────────────────────── due? ◀──────────────┐
//!            ▼ now                     │ not yet: sleep  │
//! order ─── challenge ─────── finalize ─ certificate ─ store and show
//!   │ fails                                              ▲
//!   └── wait, longer each time ──────────────────────────┘
//! ```
//!
//! - `due`: when a certificate is replaced, and how long to wait after failures; plain functions.
//! - `store`: files as the existing provider keeps them, so that its certificate is used.
//! - [`Challenge`]: answers the authority, only while it asks.
//! - [`AcmeIssuer`]: the task that does it.
//!
//! What is shown while there is no certificate is not its concern: clients get the provider's own.

mod challenge;
mod client;
mod due;
mod issuer;
mod store;

use std::path::PathBuf;

use akash_net::Outbound;

pub use challenge::{AnswerError, CertificateError, Challenge};
pub use client::RootsError;
pub use issuer::{AcmeError, AcmeIssuer};

/// What is asked of whom.
#[derive(Clone, Debug)]
pub struct AcmeSettings {
    /// URL of the authority's directory.
    pub directory: String,
    /// Where the authority writes to when something is wrong.
    pub email: String,
    /// The name that the certificate is for.
    pub domain: String,
    /// How the authority can be shown that the name leads here, best first.
    pub challenges: Vec<Challenge>,
    /// Where account and certificates are kept.
    pub directory_path: PathBuf,
    /// Key id and HMAC key (base64url) of an account elsewhere, where the authority wants one.
    pub external_account: Option<(String, String)>,
    /// PEM file with the authority's own root, where browsers do not have it.
    pub root: Option<PathBuf>,
    /// How the authority is reached.
    pub outbound: Outbound,
}
