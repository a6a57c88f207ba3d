//! Accepting connections.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};

/// How long nothing is accepted after accepting failed: mostly for want of file descriptors, which
/// another attempt at once would not have either.
const PAUSE: Duration = Duration::from_millis(100);

/// The next connection. May be dropped and called again.
pub(crate) async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}
