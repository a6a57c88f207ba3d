//! A client of a provider.
//!
//! ```text
//! Client ── connect ──► TCP, TLS (certificate of the tenant, or none)
//!        ── rest    ──► one request, one answer, one connection
//!        ── stream  ──► WebSocket: logs, events
//!        ── shell   ──► WebSocket: a command
//! ```
//!
//! Connections are not kept: who asks often asks with a server of its own. Nothing is tried twice;
//! whether that helps is for the caller to know, and [`ClientError::may_pass`] tells.

mod connect;
mod error;
mod rest;
mod stream;

use std::time::Duration;

use http::Uri;

pub use connect::{ClientCertificate, ServerTrust};
pub use error::ClientError;
pub use stream::{Frames, Shell, ShellInput, ShellOutput, StreamEnd};

use connect::Connector;

/// By what a tenant is known.
#[derive(Clone, Default)]
pub enum Credentials {
    /// By nothing: only what is public can be asked.
    #[default]
    None,
    /// By a token.
    Bearer(String),
    /// By a certificate that is published on chain.
    Certificate(ClientCertificate),
}

/// A client of one provider.
#[derive(Clone)]
pub struct Client {
    connector: Connector,
    authority: String,
    token: Option<String>,
    patience: Duration,
}

impl Client {
    /// How long an answer may take if nobody says otherwise: a manifest waits for the chain.
    pub const PATIENCE: Duration = Duration::from_mins(2);

    /// A client of the provider at `uri`, such as `https://provider.example.com:8443`. `http` is
    /// for providers that something else stands in front of.
    pub fn new(
        uri: &str,
        trust: &ServerTrust,
        credentials: Credentials,
    ) -> Result<Self, ClientError> {
        let wrong = || ClientError::Uri(uri.to_owned());
        let parsed: Uri = uri.parse().map_err(|_| wrong())?;
        let authority = parsed.authority().ok_or_else(wrong)?.to_string();
        let token = match &credentials {
            Credentials::Bearer(token) => Some(token.clone()),
            Credentials::None | Credentials::Certificate(_) => None,
        };
        let connector = Connector::new(&parsed, trust, credentials).ok_or_else(wrong)??;
        Ok(Self { connector, authority, token, patience: Self::PATIENCE })
    }

    /// The same with another patience.
    pub const fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("authority", &self.authority).finish_non_exhaustive()
    }
}
