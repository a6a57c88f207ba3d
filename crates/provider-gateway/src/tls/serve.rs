//! Serving a listener until told to stop.

use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::server::TlsStream;

use super::certificates::ServerCertificates;
use super::config::{Configs, Protocol, TlsError};
use super::handshake::{Handshake, Trouble};
use super::io::Placed;
use super::limits::Limits;
use super::peer::Peer;
use super::places::{Full, Place, Places};
use super::tally::Tally;
use crate::auth::CertificateCheck;

/// How long nothing is accepted after accepting failed: mostly for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Told of every connection that came to nothing.
type Told = Arc<dyn Fn(SocketAddr, &Trouble) + Send + Sync>;

/// What is needed to serve a listener. The same for REST and gRPC but for the protocol.
#[derive(Clone)]
pub struct Server {
    handshake: Arc<Handshake>,
    limits: Limits,
    tally: Arc<Tally>,
    told: Told,
}

impl Server {
    /// A server that shows `certificates`, that of an authority to who asks for `public_name`,
    /// and asks `clients` whose certificate it is shown.
    ///
    /// # Errors
    ///
    /// When TLS cannot be set up, which is never to be expected.
    pub fn new(
        protocol: Protocol,
        certificates: Arc<ServerCertificates>,
        public_name: Option<String>,
        clients: Arc<CertificateCheck>,
        limits: Limits,
    ) -> Result<Self, TlsError> {
        let configs = Configs::new(&certificates, protocol)?;
        let limit = limits.handshake;
        let handshake = Handshake { certificates, public_name, configs, protocol, clients, limit };
        Ok(Self {
            handshake: Arc::new(handshake),
            limits,
            tally: Arc::new(Tally::new(Places::new(limits.connections, limits.per_client))),
            told: Arc::new(|_, _| {}),
        })
    }

    /// The same, telling `told` of every connection that came to nothing.
    #[must_use]
    pub fn telling(mut self, told: impl Fn(SocketAddr, &Trouble) + Send + Sync + 'static) -> Self {
        self.told = Arc::new(told);
        self
    }

    /// What became of connections.
    #[must_use]
    pub fn tally(&self) -> Arc<Tally> {
        self.tally.clone()
    }

    /// Serves until `stop`, then lets requests end, for [`Limits::drain`] at most. Streams that a
    /// service took over are the service's to end.
    pub async fn serve<S, B>(
        self,
        listener: TcpListener,
        service: S,
        stop: impl Future<Output = ()>,
    ) where
        S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let (stopping, stopped) = watch::channel(false);
        let mut connections = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                Some(_ended) = connections.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok((tcp, address)) => if let Some(place) = self.place(address) {
                        let connection = self.clone().connection(
                            tcp, address, place, service.clone(), stopped.clone(),
                        );
                        connections.spawn(connection);
                    },
                    Err(_) => tokio::time::sleep(PAUSE).await,
                },
            }
        }
        drop(listener);
        let _nobody = stopping.send(true);
        let ended = async { while connections.join_next().await.is_some() {} };
        // What is left then is cut off with the set.
        let _late = tokio::time::timeout(self.limits.drain, ended).await;
    }

    fn place(&self, address: SocketAddr) -> Option<Place> {
        match self.tally.places.take(address.ip()) {
            Ok(place) => Some(place),
            Err(full) => {
                Tally::add(&self.tally.full);
                let trouble = match full {
                    Full::All => Trouble::Full,
                    Full::Client => Trouble::FullOfClient,
                };
                (self.told)(address, &trouble);
                None
            }
        }
    }

    async fn connection<S, B>(
        self,
        tcp: TcpStream,
        address: SocketAddr,
        place: Place,
        service: S,
        stopped: watch::Receiver<bool>,
    ) where
        S: Service<Request<Incoming>, Response = Response<B>> + Send + 'static,
        S::Future: Send,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        // Answers are written whole; waiting for more to send only delays them.
        let _unsupported = tcp.set_nodelay(true);
        match self.handshake.run(tcp, address).await {
            Ok((stream, peer)) => {
                Tally::add(&self.tally.served);
                let service = WithPeer { service, peer: Arc::new(peer) };
                self.speak(Placed::new(stream, place), service, stopped).await;
            }
            Err(trouble) => {
                let counter = match trouble {
                    Trouble::Certificate(_) => &self.tally.refused,
                    _ => &self.tally.failed,
                };
                Tally::add(counter);
                (self.told)(address, &trouble);
            }
        }
    }

    /// Speaks HTTP. How a connection ends is between the client and its requests.
    async fn speak<S, B>(
        &self,
        stream: Placed<TlsStream<TcpStream>>,
        service: WithPeer<S>,
        mut stopped: watch::Receiver<bool>,
    ) where
        S: Service<Request<Incoming>, Response = Response<B>> + Send + 'static,
        S::Future: Send,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let io = TokioIo::new(stream);
        match self.handshake.protocol {
            Protocol::Http1 => {
                let connection = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(self.limits.head)
                    .max_header_size(self.limits.head_bytes)
                    .serve_connection(io, service)
                    .with_upgrades();
                let mut connection = std::pin::pin!(connection);
                tokio::select! {
                    _ended = connection.as_mut() => return,
                    _stop = stopped.wait_for(|stopped| *stopped) => {}
                }
                connection.as_mut().graceful_shutdown();
                let _ended = connection.await;
            }
            Protocol::Http2 => {
                let head_bytes = u32::try_from(self.limits.head_bytes).unwrap_or(u32::MAX);
                let connection = http2::Builder::new(TokioExecutor::new())
                    .timer(TokioTimer::new())
                    .max_header_list_size(head_bytes)
                    .keep_alive_interval(self.limits.head)
                    .serve_connection(io, service);
                let mut connection = std::pin::pin!(connection);
                tokio::select! {
                    _ended = connection.as_mut() => return,
                    _stop = stopped.wait_for(|stopped| *stopped) => {}
                }
                connection.as_mut().graceful_shutdown();
                let _ended = connection.await;
            }
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// A service that finds the peer among the extensions of every request.
struct WithPeer<S> {
    service: S,
    peer: Arc<Peer>,
}

impl<S: Service<Request<Incoming>>> Service<Request<Incoming>> for WithPeer<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.peer.clone());
        self.service.call(request)
    }
}
