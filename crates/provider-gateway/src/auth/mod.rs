//! Who is asking, and what they may do.
//!
//! ```text
//! request ─ Authenticator ─▶ Principal ─ authorize ─▶ Grant   (whose lease, which services)
//!               │                            │
//!               └────────────── Denial ◀─────┘  (status, code and text as clients know them)
//! ```
//!
//! [`Authorizer`] is both, for the routes.
//!
//! - [`certificate`]: certificates of clients.
//! - [`keys`]: public keys of accounts, looked up and remembered.
//! - [`mod@authorize`]: what a principal may do, as one plain function.
//!
//! Must not know routes' bodies nor the cluster: what was allowed is done elsewhere.

pub mod authenticate;
pub mod authorize;
mod authorizer;
pub mod certificate;
pub mod denial;
pub mod keys;
pub mod lookup;
mod principal;
mod recent;

pub use authenticate::Authenticator;
pub use authorize::{Grant, LeaseRef, Presence, Request, Services, authorize};
pub use authorizer::Authorizer;
pub use certificate::{CertificateCheck, ClientCertificate};
pub use denial::{Denial, Reason};
pub use keys::KeyCache;
pub use lookup::{Certificates, IsTenant, KeyAnswer, LookupFailure, NoKey, PublicKeys};
pub use principal::Principal;
