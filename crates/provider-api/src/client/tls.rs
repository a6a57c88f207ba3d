//! Who the other side is.

use std::sync::Arc;

use akash_net::Trust;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

use super::Credentials;

/// A certificate with its key.
#[derive(Debug)]
pub struct ClientCertificate {
    /// The certificate, as it is published.
    pub certificate: CertificateDer<'static>,
    /// Its key.
    pub key: PrivateKeyDer<'static>,
}

impl Clone for ClientCertificate {
    fn clone(&self) -> Self {
        Self { certificate: self.certificate.clone(), key: self.key.clone_key() }
    }
}

/// How a provider shows who it is.
#[derive(Clone, Debug, Default)]
pub struct ServerTrust {
    /// Certificates of it that are valid on chain: it may show one of these, and its name does not
    /// matter then. Otherwise it has to show one that a public authority vouches for.
    pub published: Vec<CertificateDer<'static>>,
    /// The public authorities.
    pub authorities: Trust,
}

impl ServerTrust {
    pub(super) fn config(&self, credentials: Credentials) -> Result<ClientConfig, Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let roots = self.authorities.roots();
        let public = WebPkiServerVerifier::builder_with_provider(roots, provider.clone())
            .build()
            .map_err(|error| Error::General(error.to_string()))?;
        let verifier =
            Verifier { public, published: self.published.clone(), provider: provider.clone() };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        match credentials {
            Credentials::Certificate(own) => {
                builder.with_client_auth_cert(vec![own.certificate], own.key)
            }
            Credentials::None | Credentials::Bearer(_) => Ok(builder.with_no_client_auth()),
        }
    }
}

/// Trusts what is published on chain, and what the public authorities vouch for.
#[derive(Debug)]
struct Verifier {
    public: Arc<WebPkiServerVerifier>,
    published: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if others.is_empty() && self.published.iter().any(|published| published == shown) {
            return Ok(ServerCertVerified::assertion());
        }
        self.public.verify_server_cert(shown, others, name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.public.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.public.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
