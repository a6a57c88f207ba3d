//! Where an operator is asked, and how many may ask at once.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Connections at once to an operator.
pub(crate) const CONNECTIONS: usize = 64;
/// How long to wait when no connection can be accepted.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct Listener(TcpListener);

impl Listener {
    /// Listens at `address`.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        Ok(Self(TcpListener::bind(address).await?))
    }

    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// Serves each connection, for as long as this is polled. Those beyond `at_once` are closed.
    /// Dropping it ends all of them.
    pub async fn serve_each<F>(self, at_once: usize, serve: impl Fn(TcpStream) -> F) -> Infallible
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = self.0.accept() => accepted,
                Some(_) = connections.join_next() => continue,
            };
            match accepted {
                Ok((stream, _)) if connections.len() < at_once => {
                    connections.spawn(serve(stream));
                }
                // Too many already: the stream is closed here.
                Ok(_) => {}
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}
