//! The key of a certificate: ECDSA on P-256.

use p256::ecdsa::signature::Signer;
use p256::ecdsa::{DerSignature, SigningKey};
use p256::pkcs8::{DecodePrivateKey, EncodePrivateKey, EncodePublicKey};
use zeroize::Zeroizing;

use super::CertificateError;
use crate::{RandomError, random};

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
    pub(super) fn from_sec1_der(der: &[u8]) -> Result<Self, CertificateError> {
        p256::SecretKey::from_sec1_der(der).map(Self).map_err(|_| CertificateError::Key)
    }

    /// As PKCS#8, which is what TLS wants.
    pub fn to_pkcs8_der(&self) -> Result<Zeroizing<Vec<u8>>, CertificateError> {
        let document = self.0.to_pkcs8_der().map_err(|_| CertificateError::Encode)?;
        Ok(document.to_bytes())
    }

    /// The public half in the form of certificates (SubjectPublicKeyInfo).
    pub(super) fn public_key_der(&self) -> Result<Vec<u8>, CertificateError> {
        let document = self.0.public_key().to_public_key_der();
        Ok(document.map_err(|_| CertificateError::Encode)?.into_vec())
    }

    /// Signature over SHA-256 of `message`, the same each time (RFC 6979).
    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
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
