//! The certificates that the provider shows, replaced while it runs.

use std::fmt;
use std::sync::Arc;

use akash_keys::certificate::{CertificateError, KeyPair};
use arc_swap::{ArcSwap, ArcSwapOption};
use rustls::crypto::ring::{default_provider, sign};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem};
use rustls::sign::CertifiedKey;

/// What is shown from the next handshake on.
pub struct ServerCertificates {
    own: ArcSwap<CertifiedKey>,
    public: ArcSwapOption<CertifiedKey>,
}

impl ServerCertificates {
    /// The provider's own certificate, and none of an authority.
    #[must_use]
    pub fn new(own: Arc<CertifiedKey>) -> Self {
        Self { own: ArcSwap::new(own), public: ArcSwapOption::empty() }
    }

    /// Replaces the provider's own.
    pub fn set_own(&self, own: Arc<CertifiedKey>) {
        self.own.store(own);
    }

    /// Replaces, sets or drops that of an authority.
    pub fn set_public(&self, public: Option<Arc<CertifiedKey>>) {
        self.public.store(public);
    }

    #[must_use]
    pub fn has_public(&self) -> bool {
        self.public.load().is_some()
    }

    pub(super) fn own(&self) -> Arc<CertifiedKey> {
        self.own.load_full()
    }

    /// That of an authority, or else the provider's own: it may be gone since it was chosen.
    pub(super) fn public(&self) -> Arc<CertifiedKey> {
        self.public.load_full().unwrap_or_else(|| self.own())
    }
}

impl fmt::Debug for ServerCertificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerCertificates").field("public", &self.has_public()).finish()
    }
}

/// The provider's own certificate for use in handshakes.
pub fn certified(pair: &KeyPair) -> Result<Arc<CertifiedKey>, CertificateFileError> {
    let key = pair.key().to_pkcs8_der().map_err(CertificateFileError::Key)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.as_slice()));
    let key = sign::any_ecdsa_type(&key).map_err(CertificateFileError::Refused)?;
    let chain = vec![CertificateDer::from(pair.certificate().der().to_vec())];
    Ok(Arc::new(CertifiedKey::new(chain, key)))
}

pub fn certified_pem(chain: &[u8], key: &[u8]) -> Result<Arc<CertifiedKey>, CertificateFileError> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(chain)
        .collect::<Result<_, _>>()
        .map_err(CertificateFileError::Chain)?;
    if chain.is_empty() {
        return Err(CertificateFileError::NoCertificate);
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(CertificateFileError::KeyPem)?;
    let pair = CertifiedKey::from_der(chain, key, &default_provider());
    Ok(Arc::new(pair.map_err(CertificateFileError::Refused)?))
}

/// Why a certificate cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum CertificateFileError {
    #[error("the certificate's key")]
    Key(#[source] CertificateError),
    #[error("the certificate is not PEM, or damaged")]
    Chain(#[source] pem::Error),
    #[error("there is no certificate in the file")]
    NoCertificate,
    #[error("the key is not PEM, or there is none")]
    KeyPem(#[source] pem::Error),
    #[error("certificate and key cannot be used together")]
    Refused(#[source] rustls::Error),
}
