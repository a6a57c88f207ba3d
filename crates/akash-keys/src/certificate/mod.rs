//! The self-signed certificate of an account: made here, published on chain, and shown to
//! tenants by the provider.
//!
//! ```text
//! CertificateKey ──┐
//!                  ├─ KeyPair::generate ─┬─ Certificate: PEM and public key for the chain
//! CertificateSpec ─┘                     └─ KeyFile: <home>/<address>.pem
//! ```
//!
//! No clock and no randomness decides anything here: serial, times and key are given. What the
//! chain knows of a certificate, or whether it is still valid, is not known here.

mod build;
mod file;
mod key;
mod legacy_pem;
mod view;

use std::time::{Duration, SystemTime};

use akash_types::Address;

use super::pem::PemError;

#[cfg(fuzzing)]
pub(super) use file::decode as decode_file;
pub use file::{KeyFile, KeyFileError, KeyFilePassword};
pub use key::CertificateKey;
pub use view::Certificate;

/// What a new certificate is to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateSpec {
    pub owner: Address,
    /// Its number, which no other certificate of the owner has: nanoseconds since 1970, by
    /// custom.
    pub serial: u64,
    /// From when it is valid. Fractions of seconds are dropped.
    pub not_before: SystemTime,
    /// For how long; a year, by custom.
    pub valid_for: Duration,
    /// Names and IP addresses of a server; none for a client.
    pub domains: Vec<String>,
}

impl CertificateSpec {
    /// How long certificates are valid unless someone says otherwise: 8760 hours.
    pub const VALID_FOR: Duration = Duration::from_hours(8760);
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPair {
    certificate: Certificate,
    key: CertificateKey,
}

impl KeyPair {
    /// Makes the certificate of `key` that `spec` describes. The same input makes the same
    /// certificate, byte for byte.
    pub fn generate(spec: &CertificateSpec, key: CertificateKey) -> Result<Self, CertificateError> {
        let der = build::certificate(spec, &key)?;
        Ok(Self { certificate: Certificate::from_der(der)?, key })
    }

    pub fn new(certificate: Certificate, key: CertificateKey) -> Result<Self, CertificateError> {
        if certificate.public_key_der() != key.public_key_der()? {
            return Err(CertificateError::KeyMismatch);
        }
        Ok(Self { certificate, key })
    }

    pub const fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    pub const fn key(&self) -> &CertificateKey {
        &self.key
    }
}

/// Why something is not, or cannot become, a certificate or its key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    #[error("{domain:?} is neither a domain name nor an IP address")]
    Domain { domain: String },
    #[error("the certificate would be valid at a time that certificates cannot say")]
    Validity,
    #[error("could not encode the certificate")]
    Encode,
    #[error("not an X.509 certificate, or damaged")]
    Certificate,
    #[error("reading PEM")]
    Pem(#[source] PemError),
    #[error("the text has no block \"CERTIFICATE\"")]
    NoCertificate,
    #[error("not an ECDSA P-256 private key, or damaged")]
    Key,
    #[error("the private key does not belong to the certificate")]
    KeyMismatch,
}
