//! Answering an authority's question with a certificate (RFC 8737).

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertificateParams, CustomExtension, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::gateway::accept;

/// The protocol that only authorities ask for.
const PROTOCOL: &[u8] = b"acme-tls/1";
/// Length of the digest that is shown.
const DIGEST: usize = 32;
/// Connections at once; authorities look from a handful of places.
const CONNECTIONS: usize = 64;
/// How long a handshake may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why the certificate that is the answer cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    #[error("the answer to tls-alpn-01 is {0} bytes long, not {DIGEST}")]
    Digest(usize),
    #[error("making the certificate that answers tls-alpn-01")]
    Make(#[from] rcgen::Error),
    #[error("showing the certificate that answers tls-alpn-01")]
    Show(#[from] rustls::Error),
}

/// Shows the certificate that answers for `domain`, to who asks with the protocol alone.
pub(super) fn config(domain: &str, digest: &[u8]) -> Result<Arc<ServerConfig>, CertificateError> {
    if digest.len() != DIGEST {
        return Err(CertificateError::Digest(digest.len()));
    }
    let mut params = CertificateParams::new(vec![domain.to_owned()])?;
    params.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?;
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    // Not by the way that checks a certificate first: it does not know the extension.
    let key = provider.key_provider.load_private_key(key.into())?;
    let shown = CertifiedKey::new(vec![certificate.der().clone()], key);
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(shown)));
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(Arc::new(config))
}

/// Answers until dropped. A handshake is the whole answer.
pub(super) async fn listen(
    at: SocketAddr,
    config: Arc<ServerConfig>,
) -> io::Result<impl Future<Output = Infallible>> {
    let listener = TcpListener::bind(at).await?;
    let acceptor = TlsAcceptor::from(config);
    Ok(async move {
        let mut connections = JoinSet::new();
        loop {
            let (tcp, _) = accept(&listener).await;
            while connections.try_join_next().is_some() {}
            if connections.len() < CONNECTIONS {
                connections.spawn(tokio::time::timeout(PATIENCE, acceptor.accept(tcp)));
            }
        }
    })
}
