//! What a listener puts up with.

use std::time::Duration;

/// What a listener puts up with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open connections; more are closed at once.
    pub connections: usize,
    /// Open connections from one address (IPv6: one network of 64 bits). Consoles and offices
    /// share one, so it is not small.
    pub per_client: usize,
    /// From the first byte to the end of the handshake, the question to the chain included.
    pub handshake: Duration,
    /// From the end of one answer to the end of the next request's head. Clients close idle
    /// connections themselves after 90 seconds; one that is closed under a request would fail it.
    pub head: Duration,
    /// The same for clients that have not shown who they are.
    pub stranger_idle: Duration,
    /// Connections of such clients that wait after the handshake: each holds some 20 KB. Of more,
    /// one is closed.
    pub strangers: usize,
    /// Bytes of a request's head.
    pub head_bytes: usize,
    /// How long a client may leave what is sent to it unread.
    pub write: Duration,
    /// Requests at once on one connection of HTTP/2.
    pub requests: u32,
    /// How long requests may take to end when the server stops.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4_096,
            per_client: 1_024,
            handshake: Duration::from_secs(10),
            head: Duration::from_mins(2),
            stranger_idle: Duration::from_secs(15),
            strangers: 1_024,
            head_bytes: 64 * 1024,
            write: Duration::from_mins(1),
            requests: 32,
            drain: Duration::from_secs(8),
        }
    }
}
