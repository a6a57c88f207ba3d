//! The gatekeeper of a running gateway: [`auth`](crate::auth), asked for each request.

use std::sync::Arc;
use std::time::SystemTime;

use akash_types::{Address, LeaseId};
use http::header::AUTHORIZATION;
use http::request::Parts;
use provider_api::error::ErrorCode;
use provider_engine::engine::Published;

use crate::auth::authorize::admit;
use crate::auth::{self, Authenticator, Denial, LeaseIndex, Presence, Principal, authorize};
use crate::port::{Denied, Gatekeeper, Grant, LeaseRef, Request, Services};
use crate::tls::Peer;

/// Decides by certificates and tokens.
#[derive(Clone, Debug)]
pub struct Doorkeeper {
    provider: Address,
    authenticator: Arc<Authenticator>,
}

impl Doorkeeper {
    /// The gatekeeper of `provider`.
    #[must_use]
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

    fn admit(&self, principal: &Principal) -> Result<Address, Denied> {
        admit(principal, self.provider).map_err(|denial| denied(&denial))
    }

    fn authorize(
        &self,
        principal: &Principal,
        request: &Request<'_>,
        published: &Published,
    ) -> Result<Grant, Denied> {
        let request = as_asked(request);
        let granted = authorize(principal, self.provider, &request, &Index(published));
        let auth::Grant { owner, lease, services } = granted.map_err(|denial| denied(&denial))?;
        let services = match services {
            auth::Services::All => Services::All,
            auth::Services::Only(names) => Services::Only(names.into_iter().collect()),
        };
        Ok(Grant { owner, lease, services })
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

const fn as_asked<'a>(request: &Request<'a>) -> auth::Request<'a> {
    const fn lease(lease: LeaseRef) -> auth::LeaseRef {
        auth::LeaseRef { dseq: lease.dseq, gseq: lease.gseq, oseq: lease.oseq }
    }
    match *request {
        Request::SendManifest { dseq } => auth::Request::SendManifest { dseq },
        Request::GetManifest(id) => auth::Request::GetManifest(lease(id)),
        Request::LeaseStatus(id) => auth::Request::LeaseStatus(lease(id)),
        Request::ServiceStatus(id, service) => auth::Request::ServiceStatus(lease(id), service),
        Request::Logs(id, services) => auth::Request::Logs(lease(id), services),
        Request::Events(id, services) => auth::Request::Events(lease(id), services),
        Request::Shell(id, service) => auth::Request::Shell(lease(id), service),
        Request::MigrateHostnames { destination } => {
            auth::Request::MigrateHostnames { destination }
        }
        Request::MigrateEndpoints { destination } => {
            auth::Request::MigrateEndpoints { destination }
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
