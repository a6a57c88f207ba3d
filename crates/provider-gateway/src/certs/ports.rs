//! What the keeping of certificates needs of others.

use akash_chain::query::{CertificateFilter, Query};
use akash_chain::transport::Transport;
use akash_types::{Action, Address, CertificateState, Outcome};
use futures_util::future::BoxFuture;

use super::plan::OnChain;
use crate::auth::LookupFailure;

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
