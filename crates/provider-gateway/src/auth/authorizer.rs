//! From a request to what its sender may do.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use akash_types::{Address, LeaseId};
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{Extensions, HeaderValue};
use provider_api::jwt::Token;
use provider_engine::engine::Published;
use tokio::sync::watch;

use super::Principal;
use super::authorize::{Grant, Presence, Request, admit, authorize};
use super::certificate::{CertificateCheck, ClientCertificate, Refusal};
use super::denial::Denial;
use super::keys::KeyCache;
use super::lookup::{Certificates, IsTenant, KeyAnswer, PublicKeys};
use crate::tls::{OfStranger, Peer};

/// How often the certificate of a stream is checked again.
const RECHECK: Duration = Duration::from_mins(1);

/// Decides by certificates, tokens and the leases that the engine publishes. Every request passes
/// it first, public ones too. Every clone is the same.
#[derive(Clone, Debug)]
pub struct Authorizer {
    provider: Address,
    authenticator: Arc<Authenticator>,
    published: watch::Receiver<Arc<Published>>,
}

impl Authorizer {
    pub const fn new(
        provider: Address,
        authenticator: Arc<Authenticator>,
        published: watch::Receiver<Arc<Published>>,
    ) -> Self {
        Self { provider, authenticator, published }
    }

    /// What is granted to the sender of a request. A bad token or certificate is refused even
    /// where none is needed. A `request` that cannot be read is told so to those alone that may ask
    /// for something of their own.
    ///
    /// The sender is remembered among the extensions, for [`Authorizer::decide`] and
    /// [`Authorizer::revoked`].
    pub async fn authorize<E: From<Denial>>(
        &self,
        parts: &mut Parts,
        request: Result<Request<'_>, E>,
    ) -> Result<Grant, E> {
        let peer = parts.extensions.get::<Arc<Peer>>();
        let certificate = peer.and_then(|peer| peer.certificate.as_ref());
        let header = parts.headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        let now = SystemTime::now();
        let principal = self.authenticator.authenticate(certificate, header, now).await?;
        // The connection of a client that is known may wait longer for its next request.
        if principal != Principal::Anonymous
            && let Some(connection) = parts.extensions.get::<OfStranger>()
        {
            connection.is_known_now();
        }
        parts.extensions.insert(Arc::new(principal));
        self.decide(&parts.extensions, request)
    }

    /// The same for what the body of an authorized request asks for.
    pub fn decide<E: From<Denial>>(
        &self,
        extensions: &Extensions,
        request: Result<Request<'_>, E>,
    ) -> Result<Grant, E> {
        let principal = extensions.get::<Arc<Principal>>().map(|principal| &**principal);
        let principal = principal.unwrap_or(&Principal::Anonymous);
        let request = match request {
            Ok(request) => request,
            Err(unreadable) => {
                admit(principal, self.provider)?;
                return Err(unreadable);
            }
        };
        let published = self.published.borrow().clone();
        let presence = |lease: &LeaseId| presence(&published, lease);
        Ok(authorize(principal, self.provider, &request, &presence)?)
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
}

/// Before the engine has read the chain, no lease is known to be absent.
fn presence(published: &Published, lease: &LeaseId) -> Presence {
    match published.leases.get(*lease) {
        Some(lease) if lease.alive => Presence::Active,
        _ if !published.status.ready => Presence::Unknown,
        _ => Presence::Absent,
    }
}

/// Finds out who is asking. Holds what was looked up.
#[derive(Debug)]
pub struct Authenticator {
    keys: KeyCache,
    certificates: Arc<CertificateCheck>,
}

impl Authenticator {
    /// One that looks keys and certificates up here; those of tenants apart from others.
    pub fn new(
        keys: Arc<dyn PublicKeys>,
        certificates: Arc<dyn Certificates>,
        is_tenant: IsTenant,
    ) -> Self {
        Self {
            keys: KeyCache::new(keys, Arc::clone(&is_tenant)),
            certificates: Arc::new(CertificateCheck::new(certificates, is_tenant)),
        }
    }

    /// The keys, to ask for some ahead.
    pub const fn keys(&self) -> &KeyCache {
        &self.keys
    }

    /// The check of certificates, which the TLS side makes too: when a connection begins.
    pub fn certificates(&self) -> Arc<CertificateCheck> {
        self.certificates.clone()
    }

    /// Who asks, given the certificate of the connection and the `Authorization` header.
    pub async fn authenticate(
        &self,
        certificate: Option<&ClientCertificate>,
        authorization: Option<&[u8]>,
        now: SystemTime,
    ) -> Result<Principal, Denial> {
        let token = bearer(authorization)?;
        match (certificate, token) {
            (None, None) => Ok(Principal::Anonymous),
            (Some(_), Some(_)) => Err(Denial::Ambiguous),
            (Some(certificate), None) => {
                let owner = self.certificates.owner(certificate, now).await;
                owner.map(Principal::Owner).map_err(Denial::Certificate)
            }
            (None, Some(token)) => {
                let token = Token::parse(token).map_err(Denial::Malformed)?;
                match self.keys.get(token.issuer()).await {
                    Ok(KeyAnswer::Key(key)) => Ok(Principal::Token(token.verify(&key, now)?)),
                    Ok(KeyAnswer::None(why)) => Err(Denial::NoKey(why)),
                    Err(failure) => Err(Denial::Unknown(failure)),
                }
            }
        }
    }
}

/// The token of an `Authorization` header.
fn bearer(header: Option<&[u8]>) -> Result<Option<&str>, Denial> {
    let Some(header) = header.filter(|header| !header.is_empty()) else { return Ok(None) };
    let text = std::str::from_utf8(header).map_err(|_| Denial::Header)?;
    let mut words = text.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some(scheme), Some(token), None) if scheme.eq_ignore_ascii_case("bearer") => {
            Ok(Some(token))
        }
        _ => Err(Denial::Header),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_bearer_and_one_token() {
        for good in ["Bearer x.y.z", "bearer x.y.z", "BEARER  x.y.z ", "\tBearer\tx.y.z"] {
            assert_eq!(bearer(Some(good.as_bytes())).unwrap(), Some("x.y.z"), "{good:?}");
        }
        for bad in ["Bearer", "x.y.z", "Basic x.y.z", "Bearer x y", " ", "Bearer,x"] {
            assert!(matches!(bearer(Some(bad.as_bytes())), Err(Denial::Header)), "{bad:?}");
        }
        assert!(matches!(bearer(Some(b"Bearer \xff")), Err(Denial::Header)));
        for none in [None, Some(&b""[..])] {
            assert_eq!(bearer(none).unwrap(), None);
        }
    }
}
