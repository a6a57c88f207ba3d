//! Certificates of clients: an account proves itself with a certificate that it published.
//!
//! ```text
//! chain of the handshake ─ ClientCertificate::presented ─▶ ClientCertificate   (says whose it is)
//!                                      │                          │
//!                                   Refusal ◀──── agrees ─────────┤  what the chain holds under its
//!                                                                 ▼  owner and serial number, and now
//!                                                           owner: Address
//! ```
//!
//! What a [`ClientCertificate`] must be is decided without lookup or clock. [`CertificateCheck`]
//! looks up and remembers, for a minute: a certificate that is revoked is refused from then on,
//! also within a connection. Whether the client has the key of its certificate is proved by the TLS
//! handshake and not known here.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use akash_keys::certificate::{Certificate, CertificateError};
use akash_types::{Address, AddressError};
use der::Decode;
use der::oid::ObjectIdentifier;
use der::oid::db::rfc5280;
use tokio::time::Instant as Clock;
use x509_cert::ext::pkix::ExtendedKeyUsage;

use super::lookup::{Certificates, IsTenant, Limited, LookupFailure, Recent};

/// How many certificates are remembered.
const ROOM: usize = 4_096;
/// How many questions are remembered that found none. Apart from the others: strangers choose them,
/// and they are not to push out what is known of tenants.
const ROOM_FOR_NONE: usize = 2_048;
/// How long an answer is believed. A revoked certificate is good for this much longer.
const BELIEVED: Duration = Duration::from_mins(1);
/// How long a good answer is believed while nobody answers: that a node is down does not make
/// certificates bad, and what they open is the tenant's own.
const BELIEVED_IN_NEED: Duration = Duration::from_mins(15);
/// How long it is believed that there is no such certificate: who publishes one uses it at once.
const NONE_BELIEVED: Duration = Duration::from_secs(5);

/// An owner and a serial number.
type Key = (Address, String);
type Published = Option<Arc<[u8]>>;

/// Finds out whose a client's certificate is.
#[derive(derive_more::Debug)]
#[debug("CertificateCheck(…)")]
pub struct CertificateCheck {
    source: Arc<dyn Certificates>,
    limited: Limited,
    known: Mutex<Recent<Key, Arc<[u8]>>>,
    none: Mutex<Recent<Key, ()>>,
}

impl CertificateCheck {
    pub fn new(source: Arc<dyn Certificates>, is_tenant: IsTenant) -> Self {
        let limited = Limited::new(is_tenant);
        let known = Mutex::new(Recent::new(ROOM));
        Self { source, limited, known, none: Mutex::new(Recent::new(ROOM_FOR_NONE)) }
    }

    /// Whose it is at `now`.
    pub async fn owner(
        &self,
        certificate: &ClientCertificate,
        now: SystemTime,
    ) -> Result<Address, Refusal> {
        let key = (certificate.owner(), certificate.serial().to_owned());
        let published = match self.remembered(&key, Clock::now().into_std()) {
            Some(published) => published,
            None => self.published(key).await?,
        };
        certificate.agrees(published.as_deref(), now)
    }

    async fn published(&self, key: Key) -> Result<Published, Refusal> {
        let question = self.source.valid_certificate(key.0, &key.1);
        let asked = self.limited.ask(&key.0, question).await;
        let now = Clock::now().into_std();
        match asked {
            Ok(Some(found)) => {
                let found: Arc<[u8]> = found.into();
                lock(&self.known).put(key, Arc::clone(&found), now);
                Ok(Some(found))
            }
            Ok(None) => {
                // Revoked: not to be believed again when the chain does not answer.
                lock(&self.known).forget(&key);
                lock(&self.none).put(key, (), now);
                Ok(None)
            }
            Err(failure) => {
                let known = lock(&self.known).get(&key, now, BELIEVED_IN_NEED);
                known.map(Some).ok_or(Refusal::Unknown(failure))
            }
        }
    }

    /// What is remembered and still believed.
    fn remembered(&self, key: &Key, now: Instant) -> Option<Published> {
        let known = lock(&self.known).get(key, now, BELIEVED);
        let none = || lock(&self.none).get(key, now, NONE_BELIEVED).map(|()| None);
        known.map(Some).or_else(none)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Extensions whose meaning is known, so that they may be critical. What they demand of a chain of
/// certificates does not matter here: there is no chain.
const KNOWN_EXTENSIONS: [ObjectIdentifier; 6] = [
    rfc5280::ID_CE_KEY_USAGE,
    rfc5280::ID_CE_SUBJECT_ALT_NAME,
    rfc5280::ID_CE_BASIC_CONSTRAINTS,
    rfc5280::ID_CE_NAME_CONSTRAINTS,
    rfc5280::ID_CE_CERTIFICATE_POLICIES,
    rfc5280::ID_CE_EXT_KEY_USAGE,
];
const ANY_PURPOSE: ObjectIdentifier = rfc5280::ANY_EXTENDED_KEY_USAGE;

/// A certificate that a client showed and that may be one of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    certificate: Certificate,
    owner: Address,
}

impl ClientCertificate {
    /// Reads what a client showed.
    pub fn presented<C: AsRef<[u8]>>(chain: &[C]) -> Result<Self, Refusal> {
        let [der] = chain else { return Err(Refusal::Count { got: chain.len() }) };
        let parsed = x509_cert::Certificate::from_der(der.as_ref());
        let parsed = parsed.map_err(|_| Refusal::Unreadable(CertificateError::Certificate))?;
        let certificate = Certificate::from_der(der.as_ref().to_vec());
        let certificate = certificate.map_err(Refusal::Unreadable)?;
        let owner = certificate.owner().map_err(Refusal::CommonName)?;
        let issuer = parsed.tbs_certificate().issuer().common_name().ok().flatten();
        if issuer.is_none_or(|issuer| issuer.value() != certificate.common_name()) {
            return Err(Refusal::Issuer);
        }
        for extension in parsed.tbs_certificate().extensions().into_iter().flatten() {
            if extension.extn_id == rfc5280::ID_CE_EXT_KEY_USAGE {
                let purposes = ExtendedKeyUsage::from_der(extension.extn_value.as_bytes());
                let purposes = purposes.map_err(|_| Refusal::Purpose)?.0;
                let fits =
                    |purpose: &_| [rfc5280::ID_KP_CLIENT_AUTH, ANY_PURPOSE].contains(purpose);
                if !purposes.iter().any(fits) {
                    return Err(Refusal::Purpose);
                }
            }
            if extension.critical && !KNOWN_EXTENSIONS.contains(&extension.extn_id) {
                return Err(Refusal::CriticalExtension { id: extension.extn_id.to_string() });
            }
        }
        Ok(Self { certificate, owner })
    }

    pub const fn owner(&self) -> Address {
        self.owner
    }

    /// Its number in decimal, as the chain writes it.
    pub fn serial(&self) -> &str {
        self.certificate.serial()
    }

    /// The bytes.
    pub fn der(&self) -> &[u8] {
        self.certificate.der()
    }

    /// Whose it is at `now`, given what the owner has published under its serial number, as PEM,
    /// and not revoked.
    pub fn agrees(&self, published: Option<&[u8]>, now: SystemTime) -> Result<Address, Refusal> {
        if now < self.certificate.not_before() {
            return Err(Refusal::NotYetValid);
        }
        if now > self.certificate.not_after() {
            return Err(Refusal::Expired);
        }
        let published = published.ok_or(Refusal::NotPublished)?;
        let text = std::str::from_utf8(published).map_err(|_| Refusal::OtherPublished)?;
        // Byte for byte: the signature in it was checked when it was published.
        match Certificate::from_pem(text) {
            Ok(published) if published.der() == self.der() => Ok(self.owner),
            _ => Err(Refusal::OtherPublished),
        }
    }
}

/// Why a client's certificate is refused. Only the log shows it: the client gets the TLS alert
/// `bad_certificate`.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error("tls: too many peer certificates: {got}, expected one")]
    Count { got: usize },
    #[error("tls: unable to verify certificate: it cannot be read")]
    Unreadable(#[source] CertificateError),
    #[error("tls: invalid certificate's subject common name")]
    CommonName(#[source] AddressError),
    #[error("tls: invalid certificate's issuer common name")]
    Issuer,
    #[error("tls: unable to verify certificate: it is not for clients")]
    Purpose,
    #[error("tls: unable to verify certificate: unknown critical extension {id}")]
    CriticalExtension { id: String },
    #[error("tls: unable to verify certificate: it is not yet valid")]
    NotYetValid,
    #[error("tls: unable to verify certificate: it has expired")]
    Expired,
    #[error("tls: attempt to use non-existing or revoked certificate")]
    NotPublished,
    #[error("tls: unable to verify certificate: another one is published")]
    OtherPublished,
    #[error("tls: unable to verify certificate: nobody knows whether it is published")]
    Unknown(#[source] LookupFailure),
}

#[cfg(test)]
mod tests;
