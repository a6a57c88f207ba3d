//! The gatekeeper of a running gateway: [`auth`](crate::auth), asked for each request.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use akash_types::{Address, LeaseId};
use http::Extensions;
use http::header::AUTHORIZATION;
use http::request::Parts;
use provider_api::error::ErrorCode;
use provider_engine::engine::Published;

use crate::auth::authorize::admit;
use crate::auth::certificate::Refusal;
use crate::auth::{
    Authenticator, Denial, Grant, LeaseIndex, Presence, Principal, Request, authorize,
};
use crate::port::{Denied, Gatekeeper};
use crate::tls::Peer;

/// How often the certificate of a stream is looked at again.
const RECHECK: Duration = Duration::from_mins(1);

/// Decides by certificates and tokens.
#[derive(Clone, Debug)]
pub struct Doorkeeper {
    provider: Address,
    authenticator: Arc<Authenticator>,
}

impl Doorkeeper {
    /// The gatekeeper of `provider`.
    pub const fn new(provider: Address, authenticator: Arc<Authenticator>) -> Self {
        Self { provider, authenticator }
    }
}

impl Gatekeeper for Doorkeeper {
    type Principal = Principal;

    async fn authenticate(&self, parts: &Parts) -> Result<Principal, Denied> {
        let peer = parts.extensions.get::<Arc<Peer>>();
        let certificate = peer.and_then(|peer| peer.certificate.as_ref());
        let header = parts.headers.get(AUTHORIZATION).map(http::HeaderValue::as_bytes);
        let asked = self.authenticator.authenticate(certificate, header, SystemTime::now());
        asked.await.map_err(|denial| denied(&denial))
    }

    fn revoked(&self, extensions: &Extensions) -> impl Future<Output = ()> + Send + 'static {
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

    fn admit(&self, principal: &Principal) -> Result<Address, Denied> {
        admit(principal, self.provider).map_err(|denial| denied(&denial))
    }

    fn authorize(
        &self,
        principal: &Principal,
        request: &Request<'_>,
        published: &Published,
    ) -> Result<Grant, Denied> {
        let granted = authorize(principal, self.provider, request, &Index(published));
        granted.map_err(|denial| denied(&denial))
    }
}

/// The engine's published leases. Before it has read the chain nobody knows which there are.
struct Index<'a>(&'a Published);

impl LeaseIndex for Index<'_> {
    fn presence(&self, lease: &LeaseId) -> Presence {
        match self.0.leases.get(*lease) {
            Some(lease) if lease.alive => Presence::Active,
            _ if !self.0.status.ready => Presence::Unknown,
            _ => Presence::Absent,
        }
    }
}

/// A denial as routes answer it.
fn denied(denial: &Denial) -> Denied {
    let code = match denial {
        Denial::NoSuchLease { .. } => return Denied::NoSuchLease,
        Denial::Header => ErrorCode::InvalidAuthorization,
        Denial::Ambiguous => ErrorCode::AmbiguousAuthentication,
        Denial::Claims(_) => ErrorCode::TokenClaims,
        Denial::Malformed(_) | Denial::Signature | Denial::NoKey(_) => ErrorCode::TokenInvalid,
        Denial::Unknown(_) => ErrorCode::AuthenticationFailed,
        Denial::Certificate(_) | Denial::Unauthorized(_) => ErrorCode::Unauthorized,
    };
    Denied::Unauthorized { status: denial.status(), code, message: denial.message() }
}
