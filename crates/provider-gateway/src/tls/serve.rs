//! Serving a listener until told to stop.

use std::error::Error;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use http::{Request, Response, StatusCode};
use hyper::body::{Body, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::server::TlsStream;

use super::certificates::ServerCertificates;
use super::config::{Configs, Protocol, TlsError};
use super::handshake::{Handshake, Trouble};
use super::head::{AmbiguousLength, Heads};
use super::idle::{Idle, Presence};
use super::io::Placed;
use super::limits::Limits;
use super::peer::Peer;
use super::tally::Tally;
use super::unread::Unread;
use crate::auth::CertificateCheck;
use crate::budget::Budget;
use crate::listen::accept;
use crate::places::{Full, Place, Places, client};

/// What is taken from a client of HTTP/2 before the service reads it, in bytes: the least that the
/// protocol allows for a connection.
const WINDOW: u32 = 65_535;
/// What hyper holds of each answer over HTTP/2, in bytes.
const UNSENT: usize = 16 * 1024;

/// Told of every connection that came to nothing.
type Told = Arc<dyn Fn(SocketAddr, &Trouble) + Send + Sync>;

/// What is needed to serve a listener. The same for REST and gRPC but for the protocol.
#[derive(Clone)]
pub struct Server {
    handshake: Arc<Handshake>,
    limits: Limits,
    budget: Budget,
    tally: Arc<Tally>,
    idle: Idle,
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
            budget: Budget::default(),
            tally: Arc::new(Tally::new(Places::new(limits.connections, limits.per_client))),
            idle: Idle::default(),
            told: Arc::new(|_, _| {}),
        })
    }

    /// The same, telling `told` of every connection that came to nothing.
    #[must_use]
    pub fn telling(mut self, told: impl Fn(SocketAddr, &Trouble) + Send + Sync + 'static) -> Self {
        self.told = Arc::new(told);
        self
    }

    /// The same, counting what it holds for strangers in `budget`, which others may share.
    #[must_use]
    pub fn within(mut self, budget: Budget) -> Self {
        self.budget = budget;
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
                (tcp, address) = accept(&listener) => if let Some(place) = self.place(address) {
                    let connection = self.clone().connection(
                        tcp, address, place, service.clone(), stopped.clone(),
                    );
                    connections.spawn(connection);
                },
            }
        }
        drop(listener);
        let _nobody = stopping.send(true);
        let ended = async { while connections.join_next().await.is_some() {} };
        // What is left then is cut off with the set.
        let _late = tokio::time::timeout(self.limits.drain, ended).await;
    }

    fn place(&self, address: SocketAddr) -> Option<Place<IpAddr>> {
        // Before the last place is taken: a connection that is told to close needs a moment.
        let nearly_all = self.limits.connections.saturating_sub(self.limits.connections / 8);
        if self.tally.places.taken() >= nearly_all && self.idle.close_oldest() {
            Tally::add(&self.tally.crowded_out);
        }
        match self.tally.places.take(client(address.ip()), 1) {
            Ok(place) => Some(place),
            Err(full) => {
                Tally::add(&self.tally.full);
                let trouble = match full {
                    Full::All => Trouble::Full,
                    Full::Share => Trouble::FullOfClient,
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
        place: Place<IpAddr>,
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
        let presence = self.idle.enter();
        tokio::select! {
            () = self.speak(tcp, address, place, service, Arc::clone(&presence), stopped) => {}
            () = presence.closed() => {}
        }
    }

    async fn speak<S, B>(
        &self,
        tcp: TcpStream,
        address: SocketAddr,
        place: Place<IpAddr>,
        service: S,
        presence: Arc<Presence>,
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
                match self.handshake.protocol {
                    Protocol::Http1 => {
                        let speaking = Box::pin(
                            self.speak_http1(stream, place, service, peer, presence, stopped),
                        );
                        speaking.await;
                    }
                    Protocol::Http2 => {
                        let speaking = Box::pin(
                            self.speak_http2(stream, place, service, peer, presence, stopped),
                        );
                        speaking.await;
                    }
                }
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

    /// Speaks HTTP/1. How a connection ends is between the client and its requests.
    async fn speak_http1<S, B>(
        &self,
        stream: TlsStream<TcpStream>,
        place: Place<IpAddr>,
        service: S,
        peer: Peer,
        presence: Arc<Presence>,
        mut stopped: watch::Receiver<bool>,
    ) where
        S: Service<Request<Incoming>, Response = Response<B>> + Send + 'static,
        S::Future: Send,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let heads = Arc::new(Heads::new(self.budget.held_for(peer.address.ip())));
        let io = Placed::new(stream, place, Some(Arc::clone(&heads)), self.limits.write);
        let peer = Arc::new(peer);
        let service = service_fn(move |mut request: Request<Incoming>| {
            if heads.answering() {
                request.extensions_mut().insert(AmbiguousLength);
            }
            request.extensions_mut().insert(Arc::clone(&peer));
            let busy = presence.request();
            let (answering, heads) = (service.call(request), Arc::clone(&heads));
            async move {
                let answer = answering.await;
                drop(busy);
                let becomes_stream =
                    |answer: &Response<B>| answer.status() == StatusCode::SWITCHING_PROTOCOLS;
                if !answer.as_ref().is_ok_and(becomes_stream) {
                    heads.answered();
                }
                answer
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.head)
            .max_header_size(self.limits.head_bytes)
            .serve_connection(TokioIo::new(io), service)
            .with_upgrades();
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            _ended = connection.as_mut() => return,
            _stop = stopped.wait_for(|stopped| *stopped) => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ended = connection.await;
    }

    /// Speaks HTTP/2.
    async fn speak_http2<S, B>(
        &self,
        stream: TlsStream<TcpStream>,
        place: Place<IpAddr>,
        service: S,
        peer: Peer,
        presence: Arc<Presence>,
        mut stopped: watch::Receiver<bool>,
    ) where
        S: Service<Request<Incoming>, Response = Response<B>> + Send + 'static,
        S::Future: Send,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let io = Placed::new(stream, place, None, self.limits.write);
        let (peer, unread) = (Arc::new(peer), Unread::default());
        let watched = unread.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Arc::clone(&peer));
            let busy = presence.request();
            let (answering, unread) = (service.call(request), unread.clone());
            async move { Ok::<_, S::Error>(answering.await?.map(|body| unread.watch(body, busy))) }
        });
        let head_bytes = u32::try_from(self.limits.head_bytes).unwrap_or(u32::MAX);
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_header_list_size(head_bytes)
            .max_concurrent_streams(self.limits.requests)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .max_send_buf_size(UNSENT)
            .keep_alive_interval(self.limits.head)
            .serve_connection(TokioIo::new(io), service);
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            _ended = connection.as_mut() => return,
            () = watched.for_longer_than(self.limits.write) => return,
            _stop = stopped.wait_for(|stopped| *stopped) => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ended = connection.await;
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("limits", &self.limits).finish_non_exhaustive()
    }
}
