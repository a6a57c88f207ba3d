//! A listening socket whose connections hold little in the kernel.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket};

/// Bytes that the kernel holds of a connection in each direction, as asked for; Linux reserves
/// twice as much. Without a bound it grows to megabytes for a client that reads nothing, all of
/// which is encrypted first, and counts in the memory limit of a container. A client 100 ms away
/// still gets, and sends, a megabyte a second.
const BUFFER: u32 = 128 * 1024;
/// Connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// Listens at an address. Connections inherit the bounds of the listening socket.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(BUFFER)?;
    socket.set_recv_buffer_size(BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
