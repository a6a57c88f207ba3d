//! Connections: from a listening socket to HTTP requests with a known peer.
//!
//! ```text
//! accept ─ place? ─▶ ClientHello ─ choose ─▶ handshake ─ certificate shown? ─▶ HTTP
//!            │                       │                        │
//!            ▼                       │ own: certificate asked ▼ published and valid?
//!      closed at once                │ public: not asked      no: alert bad_certificate
//! ```
//!
//! Two certificates are shown. The provider's own, which is published on chain, is for whoever
//! knows the chain; a client that has the public host name in its hello gets the one of an
//! authority, if there is one, and is not asked for its own. Clients that want to show theirs
//! leave the name out or say `mtls.<host>`. No name is refused.
//!
//! TLS 1.3 only. HTTP/1.1 without ALPN for REST, HTTP/2 with ALPN `h2` for gRPC. hyper serves the
//! connections directly: what a web framework adds, routing and extractors, is a dozen exact paths
//! here, and the way of a request from socket to answer stays free of boxed layers.
//!
//! Each connection is a task of its own from the first byte on, so that a slow one holds up nobody;
//! [`Limits`] bounds how many there are, and a budget of bytes what they hold before their request
//! is complete. When places run out, those that wait for their client longest are closed. Must not
//! know what is served.

mod certificates;
mod choose;
mod config;
mod handshake;
mod head;
mod idle;
mod io;
mod limits;
mod listen;
mod peer;
mod refuse;
mod serve;
mod tally;
mod unread;
mod verifier;

pub use certificates::{CertificateFileError, ServerCertificates, certified, certified_pem};
pub use config::{Protocol, TlsError};
pub use handshake::Trouble;
pub use head::AmbiguousLength;
pub use limits::Limits;
pub use listen::listen;
pub use peer::{OfStranger, Peer};
pub use serve::{HttpService, Server};
pub use tally::{Tally, TallySnapshot};
