//! How connections go out: which proxy they take, which authorities are trusted, and which
//! certificate is shown.
//!
//! ```text
//! environment ─► Outbound ─► Connector (a target) ─► TCP, or a tunnel through a proxy ─► TLS
//!                   └─ with_files: --node-ca, --node-cert, --node-key, read again when they change
//! ```
//!
//! [`Proxies::route`] alone decides about proxies, as a plain function of target and environment.
//! Nothing here reads a variable: who starts the program passes them in.

#![allow(missing_docs)]

mod connect;
mod outbound;
mod proxy;
mod tls;
mod trust;

pub use connect::{Connector, Dialed, Target};
pub use outbound::{Outbound, OutboundError, VARIABLES};
pub use proxy::{Proxies, Proxy, ProxyError, Route};
pub use tls::{TlsError, TlsFiles};
pub use trust::{Trust, TrustError};
