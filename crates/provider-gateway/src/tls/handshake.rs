//! From a socket to a connection with a known peer.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustls::server::Acceptor;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

use super::certificates::ServerCertificates;
use super::choose::choose;
use super::config::{Configs, Protocol};
use super::peer::Peer;
use super::refuse::refuse;
use crate::auth::certificate::Refusal;
use crate::auth::{CertificateCheck, ClientCertificate};

#[derive(Debug)]
pub(super) struct Handshake {
    pub certificates: Arc<ServerCertificates>,
    pub public_name: Option<String>,
    pub configs: Configs,
    pub protocol: Protocol,
    pub clients: Arc<CertificateCheck>,
    pub limit: Duration,
}

impl Handshake {
    /// Does one until `deadline`, the question whose the client's certificate is included.
    pub(super) async fn run(
        &self,
        tcp: TcpStream,
        address: SocketAddr,
        deadline: Instant,
    ) -> Result<(TlsStream<TcpStream>, Peer), Trouble> {
        let whole = async {
            // Boxed in statements of their own: a temporary would have its room here all the same.
            let shaking = Box::pin(self.shake(tcp));
            let stream = shaking.await?;
            let identifying = Box::pin(self.identify(stream, address));
            identifying.await
        };
        match tokio::time::timeout_at(deadline, whole).await {
            Ok(Ok((stream, Ok(peer)))) => Ok((stream, peer)),
            Ok(Ok((stream, Err(refusal)))) => {
                let refusing = Box::pin(refuse(stream));
                refusing.await;
                Err(Trouble::Certificate(refusal))
            }
            Ok(Err(trouble)) => Err(trouble),
            Err(_) => Err(Trouble::Slow(self.limit)),
        }
    }

    async fn shake(&self, tcp: TcpStream) -> Result<TlsStream<TcpStream>, Trouble> {
        let start = LazyConfigAcceptor::new(Acceptor::default(), tcp).await;
        let start = start.map_err(Trouble::Handshake)?;
        let name = start.client_hello().server_name().map(str::to_owned);
        let has_public = self.certificates.has_public();
        let shown = choose(name.as_deref(), self.public_name.as_deref(), has_public);
        let stream = start.into_stream(self.configs.of(shown)).await;
        let stream = stream.map_err(Trouble::Handshake)?;
        let spoken = stream.get_ref().1.alpn_protocol();
        if self.protocol == Protocol::Http2 && spoken != Some(Protocol::H2) {
            return Err(Trouble::NoHttp2);
        }
        Ok(stream)
    }

    /// Whose certificate was shown. The stream comes back also when it is nobody's, to tell so.
    async fn identify(
        &self,
        stream: TlsStream<TcpStream>,
        address: SocketAddr,
    ) -> Result<(TlsStream<TcpStream>, Result<Peer, Refusal>), Trouble> {
        let shown = stream.get_ref().1.peer_certificates().filter(|chain| !chain.is_empty());
        let Some(chain) = shown else {
            return Ok((stream, Ok(Peer { address, certificate: None })));
        };
        let identified = match ClientCertificate::presented(chain) {
            Ok(certificate) => {
                let owner = self.clients.owner(&certificate, SystemTime::now()).await;
                owner.map(|_| Peer { address, certificate: Some(certificate) })
            }
            Err(refusal) => Err(refusal),
        };
        Ok((stream, identified))
    }
}

/// Why a connection came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    #[error("closed at once: all places for connections are taken")]
    Full,
    #[error("closed at once: the client has too many connections")]
    FullOfClient,
    #[error("the TLS handshake failed")]
    Handshake(#[source] io::Error),
    #[error("the TLS handshake took more than {} s", .0.as_secs())]
    Slow(Duration),
    #[error("the client did not ask for HTTP/2")]
    NoHttp2,
    #[error("the client's certificate was refused")]
    Certificate(#[source] Refusal),
}
