//! From a request to who is asking.

use std::sync::Arc;
use std::time::SystemTime;

use super::Principal;
use super::certificate::{CertificateCheck, ClientCertificate};
use super::denial::Denial;
use super::keys::KeyCache;
use super::lookup::{Certificates, IsTenant, KeyAnswer, PublicKeys};
use provider_api::jwt::Token;

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

    /// Who asks, given the certificate of the connection and the `Authorization` header. Every
    /// request is asked, also one that anybody may make: who shows a bad token is told so.
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
