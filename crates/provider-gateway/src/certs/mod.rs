//! The certificates that the provider shows: where they come from, and that they never run out.
//!
//! - [`plan()`]: what is to be done about the provider's own certificate, as a plain function.
//! - [`OwnCertificate`]: the file `<home>/<address>.pem`, and the task that does what the plan says.
//! - [`Vault`]: where that file is kept too, if the home directory may get lost.
//! - [`AuthorityFiles`]: a certificate of an authority from two files, read again when they change.
//! - [`acme`]: a certificate of an authority, asked for.
//!
//! The provider's own certificate is worth something only once it is published, so a new one is
//! kept beside the old until the chain shows it:
//!
//! ```text
//! nothing ─ Create ─▶ current ─ Publish ─▶ current, published ──▶ Keep
//!                                              │ expires soon, or revoked
//!                                              ▼
//!               current + next ◀─ Create ── (as before)
//!                     │ Publish next, wait
//!                     ▼
//!               next is published ─ Adopt ─▶ current, published ─ Revoke the old one ─▶ Keep
//! ```
//!
//! Must not know who else shows certificates, nor how messages come to the chain.

pub mod acme;
mod authority;
mod own;
mod plan;
mod vault;

use akash_chain::query::{CertificateFilter, Query};
use akash_chain::transport::Transport;
use akash_types::{Action, Address, CertificateState, Outcome};
use futures_util::future::BoxFuture;

use crate::auth::LookupFailure;

pub use authority::{AuthorityError, AuthorityFiles};
pub use own::{OwnCertificate, OwnCertificateError};
pub use plan::{Local, OnChain, Plan, RENEW_BEFORE, Why, plan};
pub use vault::{Step, Vault, VaultFailure, step};

/// Where it is known which certificates an account has published.
pub trait OwnCertificates: Send + Sync + 'static {
    /// All of them, in whatever state.
    fn published(&self, owner: Address) -> BoxFuture<'_, Result<Vec<OnChain>, LookupFailure>>;
}

/// Who brings a message to the chain.
pub trait Publisher: Send + Sync + 'static {
    /// Sends one and says what became of it. What counts is what the chain says afterwards.
    fn submit(&self, action: Action) -> BoxFuture<'_, Outcome>;
}

impl<T: Transport + Send + Sync + 'static> OwnCertificates for Query<T> {
    fn published(&self, owner: Address) -> BoxFuture<'_, Result<Vec<OnChain>, LookupFailure>> {
        Box::pin(async move {
            let filter = CertificateFilter { owner: Some(owner), ..CertificateFilter::default() };
            let found = self.certificates(&filter).await?.value;
            Ok(found
                .items
                .into_iter()
                .map(|item| OnChain {
                    valid: item.state == CertificateState::Valid,
                    serial: item.serial,
                    pem: item.certificate,
                })
                .collect())
        })
    }
}
