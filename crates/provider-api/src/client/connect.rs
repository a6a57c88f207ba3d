//! A connection to a provider.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use akash_net::Trust;
use http::Uri;
use http::uri::Scheme;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{ClientError, Credentials};

/// Where the gateway listens if the address does not say.
const PORT: u16 = 8443;

#[derive(Clone)]
pub(super) struct Connector {
    host: String,
    port: u16,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl Connector {
    /// `None` if the address makes no sense.
    pub(super) fn new(
        uri: &Uri,
        trust: &ServerTrust,
        credentials: Credentials,
    ) -> Option<Result<Self, ClientError>> {
        let host = uri.host()?.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = uri.port_u16().unwrap_or(PORT);
        let scheme = uri.scheme()?;
        if *scheme == Scheme::HTTP {
            return Some(Ok(Self { host, port, tls: None }));
        }
        if *scheme != Scheme::HTTPS {
            return None;
        }
        // A provider with a public certificate asks for a tenant's only under another name.
        let is_address = host.parse::<std::net::IpAddr>().is_ok();
        let name = match credentials {
            Credentials::Certificate(_) if !is_address => format!("mtls.{host}"),
            _ => host.clone(),
        };
        let name = ServerName::try_from(name).ok()?;
        let config = match trust.config(credentials) {
            Ok(config) => config,
            Err(error) => return Some(Err(error.into())),
        };
        Some(Ok(Self { host, port, tls: Some((TlsConnector::from(Arc::new(config)), name)) }))
    }

    pub(super) async fn connect(&self) -> Result<Connection, ClientError> {
        let failed = |source| ClientError::Connect {
            authority: format!("{}:{}", self.host, self.port),
            source,
        };
        let tcp = TcpStream::connect((self.host.as_str(), self.port)).await.map_err(failed)?;
        tcp.set_nodelay(true).map_err(failed)?;
        match &self.tls {
            None => Ok(Connection::Plain(tcp)),
            Some((connector, name)) => {
                let tls = connector.connect(name.clone(), tcp).await.map_err(failed)?;
                Ok(Connection::Tls(Box::new(tls)))
            }
        }
    }
}

#[derive(Debug)]
pub(super) enum Connection {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_read(context, buffer),
            Self::Tls(tls) => Pin::new(tls).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_write(context, bytes),
            Self::Tls(tls) => Pin::new(tls).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_flush(context),
            Self::Tls(tls) => Pin::new(tls).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_shutdown(context),
            Self::Tls(tls) => Pin::new(tls).poll_shutdown(context),
        }
    }
}

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
