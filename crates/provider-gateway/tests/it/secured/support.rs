//! Clients of every kind.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use akash_keys::certificate::{CertificateKey, CertificateSpec, KeyPair};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme, SupportedProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub(crate) const PROVIDER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";
pub(crate) const TENANT: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r";

/// A certificate that is valid now.
pub(crate) fn pair(owner: &str, seed: u8, domains: &[&str]) -> KeyPair {
    pair_from(owner, seed, domains, SystemTime::now() - Duration::from_mins(1))
}

pub(crate) fn pair_from(
    owner: &str,
    seed: u8,
    domains: &[&str],
    not_before: SystemTime,
) -> KeyPair {
    let spec = CertificateSpec {
        owner: owner.parse().unwrap(),
        serial: u64::from(seed),
        not_before,
        valid_for: Duration::from_hours(1),
        domains: domains.iter().map(|domain| (*domain).to_owned()).collect(),
    };
    KeyPair::generate(&spec, CertificateKey::from_bytes(&[seed; 32]).unwrap()).unwrap()
}

/// A client: what it asks for and shows.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) name: Option<&'static str>,
    pub(crate) config: ClientConfig,
}

impl Client {
    pub(crate) fn new() -> Self {
        Self::of_version(&rustls::version::TLS13)
    }

    pub(crate) fn of_version(version: &'static SupportedProtocolVersion) -> Self {
        Self { name: None, config: builder(version).with_no_client_auth() }
    }

    pub(crate) fn showing(pairs: &[&KeyPair]) -> Self {
        let chain =
            pairs.iter().map(|pair| CertificateDer::from(pair.certificate().der().to_vec()));
        let key = pairs[0].key().to_pkcs8_der().unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.to_vec()));
        let key = rustls::crypto::ring::sign::any_ecdsa_type(&key).unwrap();
        let shown = rustls::sign::CertifiedKey::new(chain.collect(), key);
        let shown = rustls::sign::SingleCertAndKey::from(shown);
        let config = builder(&rustls::version::TLS13).with_client_cert_resolver(Arc::new(shown));
        Self { name: None, config }
    }

    pub(crate) fn named(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    pub(crate) fn alpn(mut self, protocols: &[&str]) -> Self {
        self.config.alpn_protocols =
            protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        self
    }

    pub(crate) async fn connect(&self, to: SocketAddr) -> io::Result<TlsStream<TcpStream>> {
        let mut config = self.config.clone();
        config.enable_sni = self.name.is_some();
        let connector = TlsConnector::from(Arc::new(config));
        let name = ServerName::try_from(self.name.unwrap_or("any.name")).unwrap();
        connector.connect(name, TcpStream::connect(to).await?).await
    }

    /// The status and body of a request on a connection of its own.
    pub(crate) async fn get(&self, to: SocketAddr, path: &str) -> io::Result<(u16, String)> {
        let mut stream = self.connect(to).await?;
        get(&mut stream, path).await
    }
}

/// The status and body of a request.
pub(crate) async fn get(
    stream: &mut TlsStream<TcpStream>,
    path: &str,
) -> io::Result<(u16, String)> {
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    stream.flush().await?;
    read_answer(stream).await
}

pub(crate) async fn read_answer(stream: &mut TlsStream<TcpStream>) -> io::Result<(u16, String)> {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                let status = head.split(' ').nth(1).unwrap().parse().unwrap();
                return Ok((status, body.to_owned()));
            }
        }
        if stream.read_buf(&mut read).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// The certificate that the server showed.
pub(crate) fn shown(stream: &TlsStream<TcpStream>) -> Vec<u8> {
    stream.get_ref().1.peer_certificates().unwrap()[0].to_vec()
}

fn builder(
    version: &'static SupportedProtocolVersion,
) -> rustls::ConfigBuilder<ClientConfig, rustls::client::WantsClientCert> {
    ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anyone))
}

/// Believes every server.
#[derive(Debug)]
struct Anyone;

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        default_provider().signature_verification_algorithms.supported_schemes()
    }
}
