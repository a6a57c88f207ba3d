//! Connections as an attacker makes them: from any address, to a server that is not verified.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use akash_keys::certificate::KeyPair;
use anyhow::{Context, Result, bail};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::{default_provider, sign::any_ecdsa_type};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(20);

/// A TLS connection.
pub type Stream = TlsStream<TcpStream>;

/// What a client shows and asks for.
#[derive(Clone, Debug)]
pub struct Client(Arc<ClientConfig>);

impl Client {
    /// One that shows no certificate.
    pub fn new() -> Result<Self> {
        Ok(Self(Arc::new(builder()?.with_no_client_auth())))
    }

    /// One that speaks HTTP/2.
    pub fn http2() -> Result<Self> {
        let mut config = builder()?.with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self(Arc::new(config)))
    }

    /// One that shows a certificate.
    pub fn showing(pair: &KeyPair) -> Result<Self> {
        let chain = vec![CertificateDer::from(pair.certificate().der().to_vec())];
        let key = pair.key().to_pkcs8_der()?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.to_vec()));
        let shown = SingleCertAndKey::from(CertifiedKey::new(chain, any_ecdsa_type(&key)?));
        Ok(Self(Arc::new(builder()?.with_client_cert_resolver(Arc::new(shown)))))
    }

    /// Connects from any address of this machine.
    pub async fn connect(&self, to: SocketAddr, from: IpAddr) -> Result<Stream> {
        let connecting = async {
            let tcp = tcp(to, from).await?;
            tcp.set_nodelay(true)?;
            let connector = TlsConnector::from(Arc::clone(&self.0));
            anyhow::Ok(connector.connect(ServerName::try_from("any.name")?, tcp).await?)
        };
        tokio::time::timeout(CONNECT, connecting).await.context("no connection in time")?
    }
}

/// A plain connection from an address.
pub async fn tcp(to: SocketAddr, from: IpAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::new(from, 0))?;
    socket.connect(to).await
}

/// Sends a request and reads its answer: status and body.
pub async fn ask(stream: &mut Stream, request: &[u8]) -> Result<(u16, Vec<u8>)> {
    stream.write_all(request).await?;
    stream.flush().await?;
    answer(stream).await
}

/// Reads an answer.
pub async fn answer(stream: &mut Stream) -> Result<(u16, Vec<u8>)> {
    let mut read = Vec::new();
    let (mut status, mut whole) = (0, None);
    loop {
        if whole.is_none()
            && let Some(at) = read.windows(4).position(|four| four == b"\r\n\r\n")
        {
            let head = String::from_utf8_lossy(read.get(..at).unwrap_or_default()).to_lowercase();
            status = head.split(' ').nth(1).context("no status")?.parse()?;
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.unwrap_or("0").trim().parse()?;
            whole = Some((at + 4, at + 4 + length));
        }
        match whole {
            Some((from, to)) if read.len() >= to => {
                return Ok((status, read.get(from..to).unwrap_or_default().to_vec()));
            }
            _ if stream.read_buf(&mut read).await? == 0 => bail!("the connection ended"),
            _ => {}
        }
    }
}

/// A request with a token, or none, and a body, or none.
pub fn request(method: &str, path: &str, token: Option<&str>, body: &[u8]) -> Vec<u8> {
    let token = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\n{token}content-type: application/json\r\n\
         content-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

fn builder() -> Result<rustls::ConfigBuilder<ClientConfig, rustls::client::WantsClientCert>> {
    Ok(ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyServer)))
}

/// Accepts every server.
#[derive(Debug)]
struct AnyServer;

impl ServerCertVerifier for AnyServer {
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
