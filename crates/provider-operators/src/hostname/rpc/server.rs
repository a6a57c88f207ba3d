//! The listener and its limits.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::Rpc;

/// Connections at once; more are closed at once.
const CONNECTIONS: usize = 64;
/// Calls at once of each.
const CALLS: u32 = 32;
/// How long a connection may be silent before it is asked whether it is there.
const SILENCE: Duration = Duration::from_secs(30);
/// How long to wait when no connection can be accepted.
const PAUSE: Duration = Duration::from_millis(100);

/// A listener that answers.
#[derive(Debug)]
pub struct RpcServer {
    listener: TcpListener,
}

impl RpcServer {
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
    pub async fn run(self, rpc: Rpc) -> Infallible {
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                Some(_) = connections.join_next() => continue,
            };
            match accepted {
                Ok((stream, _)) if connections.len() < CONNECTIONS => {
                    connections.spawn(serve(stream, rpc.clone()));
                }
                // Too many already: the stream is closed here.
                Ok(_) => {}
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

async fn serve(stream: TcpStream, rpc: Rpc) {
    let service = service_fn(move |request| {
        let rpc = rpc.clone();
        async move { Ok::<_, Infallible>(rpc.call(request).await) }
    });
    // Whoever asks sees how it ended.
    let _ = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(SILENCE)
        .max_concurrent_streams(CALLS)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
