//! The listener and its limits.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::Rest;

/// Connections at once; more are closed at once.
const CONNECTIONS: usize = 64;
/// How long a connection may last.
const TIME: Duration = Duration::from_secs(30);
/// How long to wait when no connection can be accepted.
const PAUSE: Duration = Duration::from_millis(100);

/// A listener that answers.
#[derive(Debug)]
pub struct RestServer {
    listener: TcpListener,
}

impl RestServer {
    /// Listens at `address`.
    ///
    /// # Errors
    ///
    /// When the address cannot be listened at.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address).await? })
    }

    /// Where it listens.
    ///
    /// # Errors
    ///
    /// When the system does not say.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers for as long as this is polled. Dropping it ends all connections.
    pub async fn run(self, rest: Rest) -> Infallible {
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                Some(_) = connections.join_next() => continue,
            };
            match accepted {
                Ok((stream, _)) if connections.len() < CONNECTIONS => {
                    connections.spawn(serve(stream, rest.clone()));
                }
                // Too many already: the stream is closed here.
                Ok(_) => {}
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

async fn serve(stream: TcpStream, rest: Rest) {
    let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let response = rest.answer(request.method(), request.uri().path());
        async move { Ok::<_, Infallible>(response) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(TIME)
        .serve_connection(TokioIo::new(stream), service);
    // Whoever asks sees how it ended.
    let _ = tokio::time::timeout(TIME, connection).await;
}
