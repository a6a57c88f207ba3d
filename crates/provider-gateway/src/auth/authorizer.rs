//! Authentication and authorization of every request of a running gateway.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use akash_types::{Address, LeaseId};
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{Extensions, HeaderValue};
use provider_engine::engine::Published;

use super::Principal;
use super::authenticate::Authenticator;
use super::authorize::{Grant, Presence, Request, admit, authorize};
use super::certificate::Refusal;
use super::denial::Denial;
use crate::tls::Peer;

/// How often the certificate of a stream is checked again.
const RECHECK: Duration = Duration::from_mins(1);

/// Decides by certificates and tokens. Every request is shown to it first, public ones too. Every
/// clone is the same.
#[derive(Clone, Debug)]
pub struct Authorizer {
    provider: Address,
    authenticator: Arc<Authenticator>,
}

impl Authorizer {
    pub const fn new(provider: Address, authenticator: Arc<Authenticator>) -> Self {
        Self { provider, authenticator }
    }

    /// The account that sent a request, as far as it proved it: by the certificate of its
    /// connection, which is among the extensions, or by a token.
    pub async fn authenticate(&self, parts: &Parts) -> Result<Principal, Denial> {
        let peer = parts.extensions.get::<Arc<Peer>>();
        let certificate = peer.and_then(|peer| peer.certificate.as_ref());
        let header = parts.headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        self.authenticator.authenticate(certificate, header, SystemTime::now()).await
    }

    /// Waits until the certificate that a request was authenticated with is revoked; for ever,
    /// where there is none. The end of a token's time ends no stream: clients do not open it again.
    pub fn revoked(&self, extensions: &Extensions) -> impl Future<Output = ()> + Send + 'static {
        let peer = extensions.get::<Arc<Peer>>();
        let certificate = peer.and_then(|peer| peer.certificate.clone());
        let check = self.authenticator.certificates();
        async move {
            let Some(certificate) = certificate else { return std::future::pending().await };
            loop {
                tokio::time::sleep(RECHECK).await;
                // That the chain cannot be asked revokes nothing.
                if let Err(Refusal::NotPublished | Refusal::OtherPublished) =
                    check.owner(&certificate, SystemTime::now()).await
                {
                    return;
                }
            }
        }
    }

    /// The account, if it may ask this provider for anything of its own. Comes first: the numbers
    /// in a request are not even read for others.
    pub fn admit(&self, principal: &Principal) -> Result<Address, Denial> {
        admit(principal, self.provider)
    }

    /// What of `request` is granted, given the leases that the engine has published.
    pub fn authorize(
        &self,
        principal: &Principal,
        request: &Request<'_>,
        published: &Published,
    ) -> Result<Grant, Denial> {
        authorize(principal, self.provider, request, &|lease| presence(published, lease))
    }
}

/// Before the engine has read the chain, no lease is known to be absent.
fn presence(published: &Published, lease: &LeaseId) -> Presence {
    match published.leases.get(*lease) {
        Some(lease) if lease.alive => Presence::Active,
        _ if !published.status.ready => Presence::Unknown,
        _ => Presence::Absent,
    }
}
