//! Serving a listener until told to stop.

use std::error::Error;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use http::{Request, Response, StatusCode};
use hyper::body::{Body, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_rustls::server::TlsStream;

use super::certificates::ServerCertificates;
use super::config::{Configs, Protocol, TlsError};
use super::handshake::{Handshake, Trouble};
use super::head::{AmbiguousLength, Heads};
use super::idle::{Answering, Idle, Presence};
use super::io::Placed;
use super::limits::Limits;
use super::peer::{OfStranger, Peer};
use super::tally::Tally;
use super::unread::Unread;
use crate::auth::CertificateCheck;
use crate::gateway::accept;
use crate::places::{Budget, Full, Place, Places, client};

/// What is taken from a client of HTTP/2 before the service reads it, in bytes: the least that the
/// protocol allows for a connection.
const WINDOW: u32 = 65_535;
/// What hyper holds of each answer over HTTP/2, in bytes.
const UNSENT: usize = 16 * 1024;

/// What answers the requests of a listener.
pub trait HttpService:
    Service<
        Request<Incoming>,
        Response = Response<Self::Answer>,
        Error: Into<Box<dyn Error + Send + Sync>>,
        Future: Send,
    > + Send
    + Sync
    + 'static
{
    type Answer: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;
}

impl<S, B> HttpService for S
where
    S: Service<
            Request<Incoming>,
            Response = Response<B>,
            Error: Into<Box<dyn Error + Send + Sync>>,
            Future: Send,
        > + Send
        + Sync
        + 'static,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    type Answer = B;
}

/// Told of every connection that came to nothing.
type Told = Arc<dyn Fn(SocketAddr, &Trouble) + Send + Sync>;

struct Connection {
    tcp: TcpStream,
    address: SocketAddr,
    place: Place<IpAddr>,
    /// Becomes true when the server stops.
    stopped: watch::Receiver<bool>,
}

/// A connection among those that wait for their client, and among those of strangers.
struct Waits {
    presence: Arc<Presence>,
    stranger: Arc<Presence>,
}

impl Waits {
    /// A request has arrived: the connection does not wait until the result is dropped.
    fn request(&self, request: &mut Request<Incoming>) -> [Answering; 2] {
        request.extensions_mut().insert(OfStranger(Arc::clone(&self.stranger)));
        [self.presence.request(), self.stranger.request()]
    }
}

/// What is needed to serve a listener. The same for REST and gRPC but for the protocol.
#[derive(Clone)]
pub struct Server {
    handshake: Arc<Handshake>,
    limits: Limits,
    budget: Budget,
    tally: Arc<Tally>,
    idle: Idle,
    /// Connections whose client has not shown who it is, after the handshake.
    strangers: Idle,
    told: Told,
}

impl Server {
    /// A server that shows `certificates`, that of an authority to who asks for `public_name`,
    /// and asks `clients` whose certificate it is shown.
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
            strangers: Idle::default(),
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
    pub async fn serve<S: HttpService>(
        self,
        listener: TcpListener,
        service: S,
        stop: impl Future<Output = ()>,
    ) {
        let (stopping, stopped) = watch::channel(false);
        let mut connections = JoinSet::new();
        let (server, service) = (Arc::new(self), Arc::new(service));
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                Some(_ended) = connections.join_next() => {}
                (tcp, address) = accept(&listener) => if let Some(place) = server.place(address) {
                    let connection = Connection { tcp, address, place, stopped: stopped.clone() };
                    connections.spawn(server.clone().serve_one(connection, service.clone()));
                },
            }
        }
        drop(listener);
        let _nobody = stopping.send(true);
        let ended = async { while connections.join_next().await.is_some() {} };
        // What is left then is cut off with the set.
        let _late = tokio::time::timeout(server.limits.drain, ended).await;
    }

    fn place(&self, address: SocketAddr) -> Option<Place<IpAddr>> {
        let place = self.tally.places.take(client(address.ip()), 1);
        // Before the last place is taken: a connection that is told to close needs a moment.
        let nearly_all = self.limits.connections.saturating_sub(self.limits.connections / 8);
        while self.idle.close_one(self.tally.places.taken(), nearly_all) {
            Tally::add(&self.tally.crowded_out);
        }
        match place {
            Ok(place) => Some(place),
            Err(full) => {
                let trouble = match full {
                    Full::All => Trouble::Full,
                    Full::Share => Trouble::FullOfClient,
                };
                (self.told)(address, &trouble);
                None
            }
        }
    }

    /// Serves a connection until it ends or has to make room. For one whose
    /// client says nothing, no state of a handshake is allocated.
    async fn serve_one<S: HttpService>(self: Arc<Self>, connection: Connection, service: Arc<S>) {
        let presence = self.idle.enter(client(connection.address.ip()));
        let now = Instant::now();
        let deadline = now.checked_add(self.limits.handshake).unwrap_or(now);
        // Not `readable`: tokio takes it for granted of a connection that was just accepted.
        let mut first = [0];
        let spoken = tokio::select! {
            spoken = tokio::time::timeout_at(deadline, connection.tcp.peek(&mut first)) => spoken,
            () = presence.closed() => return drop(connection),
        };
        let trouble = match spoken {
            Ok(Ok(_)) => None,
            Ok(Err(error)) => Some(Trouble::Handshake(error)),
            Err(_) => Some(Trouble::Slow(self.limits.handshake)),
        };
        if let Some(trouble) = trouble {
            return self.came_to_nothing(connection.address, &trouble);
        }
        let speaking = boxed(self.speak(connection, service, Arc::clone(&presence), deadline));
        tokio::select! {
            () = speaking => {}
            () = presence.closed() => {}
        }
    }

    fn came_to_nothing(&self, address: SocketAddr, trouble: &Trouble) {
        let counter = match trouble {
            Trouble::Certificate(_) => &self.tally.refused,
            Trouble::Slow(_) => &self.tally.slow,
            _ => &self.tally.failed,
        };
        Tally::add(counter);
        (self.told)(address, trouble);
    }

    async fn speak<S: HttpService>(
        &self,
        Connection { tcp, address, place, stopped }: Connection,
        service: Arc<S>,
        presence: Arc<Presence>,
        deadline: Instant,
    ) {
        // Answers are written whole; waiting for more to send only delays them.
        let _unsupported = tcp.set_nodelay(true);
        match self.handshake.run(tcp, address, deadline).await {
            Ok((stream, peer)) => {
                Tally::add(&self.tally.served);
                let stranger = self.strangers.enter(client(address.ip()));
                if peer.certificate.is_some() {
                    stranger.exempt();
                }
                for _ in 0..self.strangers.close_beyond(self.limits.strangers) {
                    Tally::add(&self.tally.crowded_out);
                }
                let waits = Waits { presence, stranger: Arc::clone(&stranger) };
                let speaking = match self.handshake.protocol {
                    Protocol::Http1 => {
                        boxed(self.speak_http1(stream, place, service, peer, waits, stopped))
                    }
                    Protocol::Http2 => {
                        boxed(self.speak_http2(stream, place, service, peer, waits, stopped))
                    }
                };
                tokio::select! {
                    () = speaking => {}
                    () = stranger.closed() => {}
                    () = stranger.idle_for(self.limits.stranger_idle) => {}
                }
            }
            Err(trouble) => self.came_to_nothing(address, &trouble),
        }
    }

    async fn speak_http1<S: HttpService>(
        &self,
        stream: TlsStream<TcpStream>,
        place: Place<IpAddr>,
        service: Arc<S>,
        peer: Peer,
        waits: Waits,
        stopped: watch::Receiver<bool>,
    ) {
        let heads = Arc::new(Heads::new(self.budget.held_for(peer.address.ip())));
        let io = Placed::new(stream, place, Some(Arc::clone(&heads)), self.limits.write);
        let peer = Arc::new(peer);
        let service = service_fn(move |mut request: Request<Incoming>| {
            if heads.answering() {
                request.extensions_mut().insert(AmbiguousLength);
            }
            request.extensions_mut().insert(Arc::clone(&peer));
            let busy = waits.request(&mut request);
            let (answering, heads) = (service.call(request), Arc::clone(&heads));
            async move {
                let answer = answering.await;
                drop(busy);
                let becomes_stream = answer
                    .as_ref()
                    .is_ok_and(|answer| answer.status() == StatusCode::SWITCHING_PROTOCOLS);
                if !becomes_stream {
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
        until_stopped(connection, |connection| connection.graceful_shutdown(), stopped).await;
    }

    async fn speak_http2<S: HttpService>(
        &self,
        stream: TlsStream<TcpStream>,
        place: Place<IpAddr>,
        service: Arc<S>,
        peer: Peer,
        waits: Waits,
        stopped: watch::Receiver<bool>,
    ) {
        let io = Placed::new(stream, place, None, self.limits.write);
        let (peer, unread) = (Arc::new(peer), Unread::default());
        let watched = unread.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Arc::clone(&peer));
            let busy = waits.request(&mut request);
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
        tokio::select! {
            () = until_stopped(connection, |connection| connection.graceful_shutdown(), stopped) => {}
            () = watched.for_longer_than(self.limits.write) => {}
        }
    }
}

/// Lets a connection go on until it ends by itself, or until the server stops and its requests have
/// ended. How it ends is between the client and its requests.
async fn until_stopped<C: Future>(
    connection: C,
    shut_down: impl FnOnce(Pin<&mut C>),
    mut stopped: watch::Receiver<bool>,
) {
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ended = connection.as_mut() => return,
        _stop = stopped.wait_for(|stopped| *stopped) => {}
    }
    shut_down(connection.as_mut());
    let _ended = connection.await;
}

/// On the heap before it can take room in its caller.
fn boxed<'f>(
    future: impl Future<Output = ()> + Send + 'f,
) -> Pin<Box<dyn Future<Output = ()> + Send + 'f>> {
    Box::pin(future)
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("limits", &self.limits).finish_non_exhaustive()
    }
}
