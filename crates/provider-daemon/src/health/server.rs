//! The listener and its limits.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::Probe;
use super::readiness::answer;

/// What a stranger may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once. More are closed at once.
    pub connections: usize,
    /// How long a connection may last, from its first byte to its last.
    pub time: Duration,
    /// Bytes of a request's head.
    pub head: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 64, time: Duration::from_secs(10), head: 16 * 1024 }
    }
}

/// hyper takes no less than this.
const LEAST_HEAD: usize = 8 * 1024;

/// How long to wait when no connection can be accepted, such as for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// A listener that answers.
#[derive(Debug)]
pub struct HealthServer {
    listener: TcpListener,
    limits: Limits,
}

impl HealthServer {
    /// Listens at `address`.
    pub async fn bind(address: SocketAddr, limits: Limits) -> io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address).await?, limits })
    }

    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers for as long as this is polled. Dropping it ends all connections.
    pub async fn run(self, probe: impl Probe) -> Infallible {
        let probe = Arc::new(probe);
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                Some(_) = connections.join_next() => continue,
            };
            while connections.try_join_next().is_some() {}
            match accepted {
                Ok((stream, _)) if connections.len() < self.limits.connections => {
                    connections.spawn(serve(stream, self.limits, Arc::clone(&probe)));
                }
                // Too many already: the stream is closed here.
                Ok(_) => {}
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

async fn serve(stream: TcpStream, limits: Limits, probe: Arc<impl Probe>) {
    let service = service_fn(move |request| {
        let response = answer(&*probe, &request);
        async move { Ok::<_, Infallible>(response) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.time)
        .keep_alive(false)
        .max_headers(64)
        .max_buf_size(limits.head.max(LEAST_HEAD))
        .serve_connection(TokioIo::new(stream), service);
    // Whoever asks sees how it ended; nobody else needs to.
    let _ = tokio::time::timeout(limits.time, connection).await;
}
