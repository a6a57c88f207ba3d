//! What a client's certificate must be.

use std::time::SystemTime;

use akash_keys::certificate::{Certificate, CertificateError};
use akash_types::{Address, AddressError};
use der::Decode;
use der::oid::ObjectIdentifier;
use der::oid::db::rfc5280;
use x509_cert::ext::pkix::ExtendedKeyUsage;

use crate::auth::lookup::LookupFailure;

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
