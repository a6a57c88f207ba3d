//! Who is asking, and what they may do.
//!
//! ```text
//! request ─ Authenticator ─▶ Principal ─ authorize ─▶ Grant   (whose lease, which services)
//!               │                            │
//!               └────────────── Denial ◀─────┘  (status, code and text as clients know them)
//! ```
//!
//! [`Authorizer::authorize`] is both, one call for each route.
//!
//! - [`certificate`]: certificates of clients.
//! - [`keys`]: public keys of accounts, looked up and remembered.
//! - [`mod@authorize`]: what a principal may do, as one plain function.
//!
//! Must not know routes' bodies nor the cluster: what was allowed is done elsewhere.

pub mod authorize;
mod authorizer;
pub mod certificate;
pub mod denial;
pub mod keys;
pub mod lookup;

use akash_types::Address;
use provider_api::jwt::Claims;

pub use authorize::{Grant, LeaseRef, Presence, Request, Services, authorize};
pub use authorizer::{Authenticator, Authorizer};
pub use certificate::{CertificateCheck, ClientCertificate};
pub use denial::Denial;
pub use keys::KeyCache;
pub use lookup::{Certificates, IsTenant, KeyAnswer, LookupFailure, NoKey, PublicKeys};

/// Who is asking, as far as they proved it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Principal {
    Anonymous,
    /// An account, by its certificate: everything that the account may do.
    Owner(Address),
    /// An account, by a token: what the token says.
    Token(Claims),
}

impl Principal {
    pub const fn account(&self) -> Option<Address> {
        match self {
            Self::Anonymous => None,
            Self::Owner(account) => Some(*account),
            Self::Token(claims) => Some(claims.issuer),
        }
    }
}
