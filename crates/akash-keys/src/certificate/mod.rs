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
mod legacy_pem;
mod view;

use std::time::{Duration, SystemTime};

use akash_types::Address;
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{DerSignature, SigningKey};
use p256::pkcs8::{DecodePrivateKey, EncodePrivateKey, EncodePublicKey};
use zeroize::Zeroizing;

use super::pem::PemError;
use crate::{RandomError, random};

#[cfg(fuzzing)]
pub(super) use file::decode as decode_file;
pub use file::{KeyFile, KeyFileError, KeyFilePassword};
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

/// The secret key of a certificate. Wiped when dropped.
#[derive(Clone, derive_more::Debug)]
#[debug("CertificateKey(…)")]
pub struct CertificateKey(p256::SecretKey);

impl CertificateKey {
    pub fn generate() -> Result<Self, RandomError> {
        loop {
            // All but one in 2^32 are keys.
            if let Ok(key) = Self::from_bytes(random::<32>()?.as_slice()) {
                return Ok(key);
            }
        }
    }

    /// The key with these 32 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CertificateError> {
        match bytes.len() {
            32 => p256::SecretKey::from_slice(bytes).map(Self).map_err(|_| CertificateError::Key),
            _ => Err(CertificateError::Key),
        }
    }

    /// The key in PKCS#8.
    pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, CertificateError> {
        p256::SecretKey::from_pkcs8_der(der).map(Self).map_err(|_| CertificateError::Key)
    }

    /// The key in the form of SEC 1 (`EC PRIVATE KEY`).
    fn from_sec1_der(der: &[u8]) -> Result<Self, CertificateError> {
        p256::SecretKey::from_sec1_der(der).map(Self).map_err(|_| CertificateError::Key)
    }

    /// As PKCS#8, which is what TLS wants.
    pub fn to_pkcs8_der(&self) -> Result<Zeroizing<Vec<u8>>, CertificateError> {
        let document = self.0.to_pkcs8_der().map_err(|_| CertificateError::Encode)?;
        Ok(document.to_bytes())
    }

    /// The public half in the form of certificates (SubjectPublicKeyInfo).
    fn public_key_der(&self) -> Result<Vec<u8>, CertificateError> {
        let document = self.0.public_key().to_public_key_der();
        Ok(document.map_err(|_| CertificateError::Encode)?.into_vec())
    }

    /// Signature over SHA-256 of `message`, the same each time (RFC 6979).
    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let signature: DerSignature = SigningKey::from(&self.0).sign(message);
        signature.as_bytes().to_vec()
    }
}

impl PartialEq for CertificateKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.public_key() == other.0.public_key()
    }
}

impl Eq for CertificateKey {}
