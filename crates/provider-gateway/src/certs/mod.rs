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

use akash_chain::query::{CertificateFilter, Query};
use akash_chain::transport::Transport;
use akash_types::{Action, Address, CertificateState, Outcome};
use futures_util::future::BoxFuture;

use crate::auth::LookupFailure;

pub use authority::{AuthorityError, AuthorityFiles};
pub use own::{OwnCertificate, OwnCertificateError};
pub use plan::{Local, OnChain, Plan, RENEW_BEFORE, Why, plan};

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

/// Why a place could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct VaultFailure(pub String);

/// Where the text of the file is kept too.
pub trait Vault: Send + Sync + 'static {
    /// What is kept; `None` if nothing is.
    fn read(&self) -> BoxFuture<'_, Result<Option<String>, VaultFailure>>;

    /// Keeps a text in the place of what was kept.
    fn write(&self, text: String) -> BoxFuture<'_, Result<(), VaultFailure>>;
}

/// What is to be done before the certificate is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// File and copy are the same.
    Nothing,
    /// What is kept becomes the file again.
    Restore,
    /// There is neither: a certificate has to be made, and kept.
    Make,
    /// The file is to be kept. Where another one is kept, the file is what was shown last here.
    Copy,
}

pub fn step(file: Option<&str>, kept: Option<&str>) -> Step {
    match (file, kept) {
        (None, None) => Step::Make,
        (None, Some(_)) => Step::Restore,
        (Some(file), Some(kept)) if file == kept => Step::Nothing,
        (Some(_), _) => Step::Copy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_wins_and_what_is_kept_replaces_a_missing_one() {
        for (file, kept, wanted) in [
            (None, None, Step::Make),
            (None, Some("a"), Step::Restore),
            (Some("a"), None, Step::Copy),
            (Some("a"), Some("a"), Step::Nothing),
            (Some("b"), Some("a"), Step::Copy),
        ] {
            assert_eq!(step(file, kept), wanted, "{file:?} {kept:?}");
        }
    }
}
