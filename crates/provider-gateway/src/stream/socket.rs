//! A WebSocket of the gateway: it shows that it is there, and never waits for ever.

use std::future::Future;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use provider_api::stream::CloseCode;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Message};

use super::watch::{Ending, LeaseWatch};

/// Most that waits to be written: twice what the largest frame has, which is one of a log.
const UNWRITTEN: usize = 256 << 10;
/// How much is read at once. It is there as long as the stream, and clients say little.
const READ: usize = 8 << 10;
/// How much is written at once: a few records of TLS.
const WRITTEN: usize = 32 << 10;
/// How long the other side may take to say farewell.
const FAREWELL: Duration = Duration::from_secs(3);
/// Longest reason that a close frame has room for.
const REASON: usize = 123;

/// The client is gone, or does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gone;

#[derive(Debug)]
pub(super) enum Happened<T> {
    Own(T),
    /// Something from the client.
    Received(Message),
    Ended(Ending),
    Gone,
}

pub(super) struct Socket {
    web: WebSocketStream<TokioIo<Upgraded>>,
    ping: Interval,
    patience: Duration,
}

impl Socket {
    pub(super) async fn new(
        upgraded: Upgraded,
        ping: Duration,
        patience: Duration,
        largest: usize,
    ) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ)
            .write_buffer_size(WRITTEN)
            .max_message_size(Some(largest))
            .max_frame_size(Some(largest))
            .max_write_buffer_size(UNWRITTEN);
        let io = TokioIo::new(upgraded);
        let web = WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await;
        let first = Instant::now().checked_add(ping).unwrap_or_else(Instant::now);
        let mut ping = tokio::time::interval_at(first, ping);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { web, ping, patience }
    }

    /// Waits for `own`, and meanwhile for everything else that may happen. What the client sends
    /// is left where it is unless `reads`.
    pub(super) async fn until<T>(
        &mut self,
        watch: &mut LeaseWatch,
        reads: bool,
        own: impl Future<Output = T>,
    ) -> Happened<T> {
        let mut own = std::pin::pin!(own);
        loop {
            let web = &mut self.web;
            tokio::select! {
                ending = watch.ended() => return Happened::Ended(ending),
                message = web.next(), if reads => match message {
                    Some(Ok(Message::Close(_))) => {
                        // The answer to a farewell is written with what is written next.
                        let _ = tokio::time::timeout(FAREWELL, self.web.flush()).await;
                        return Happened::Gone;
                    }
                    Some(Ok(message)) => return Happened::Received(message),
                    Some(Err(_)) | None => return Happened::Gone,
                },
                _ = self.ping.tick() => {
                    if self.send(Message::Ping(Bytes::new())).await.is_err() {
                        return Happened::Gone;
                    }
                }
                result = &mut own => return Happened::Own(result),
            }
        }
    }

    /// Sends a message; waits as long as a client may leave it unread.
    pub(super) async fn send(&mut self, message: Message) -> Result<(), Gone> {
        let sent = tokio::time::timeout(self.patience, self.web.send(message)).await;
        sent.map_err(|_| Gone)?.map_err(|_| Gone)
    }

    /// Hands a message over to be written before long; waits while too much is unwritten.
    pub(super) async fn feed(&mut self, message: Message) -> Result<(), Gone> {
        let fed = tokio::time::timeout(self.patience, self.web.feed(message)).await;
        fed.map_err(|_| Gone)?.map_err(|_| Gone)
    }

    /// Writes what was handed over.
    pub(super) async fn flush(&mut self) -> Result<(), Gone> {
        let flushed = tokio::time::timeout(self.patience, self.web.flush()).await;
        flushed.map_err(|_| Gone)?.map_err(|_| Gone)
    }

    /// Says farewell and waits for the client's, so that nothing on the way to it is lost.
    pub(super) async fn finish(mut self, code: CloseCode, reason: &str) {
        let frame = CloseFrame { code: code.code().into(), reason: shortened(reason).into() };
        let farewell = async {
            if self.web.close(Some(frame)).await.is_ok() {
                while let Some(Ok(_)) = self.web.next().await {}
            }
            let _ = self.web.get_mut().shutdown().await;
        };
        let _ = tokio::time::timeout(FAREWELL, farewell).await;
    }
}

/// As much of a text as a close frame has room for.
fn shortened(text: &str) -> &str {
    let end = text.floor_char_boundary(REASON);
    text.get(..end).unwrap_or_default()
}

/// A socket over a pipe that holds next to nothing, and the client's end of it.
#[cfg(test)]
pub(super) async fn piped(largest: usize) -> (Socket, tokio::io::DuplexStream) {
    use std::convert::Infallible;
    use std::sync::{Arc, Mutex};

    use http::{Request, Response, StatusCode};
    use http_body_util::Full;
    use hyper::body::Incoming;
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use tokio::io::AsyncReadExt;

    let (server, mut client) = tokio::io::duplex(512);
    let upgrades = Arc::new(Mutex::new(None));
    let taken = Arc::clone(&upgrades);
    let service = service_fn(move |request: Request<Incoming>| {
        *taken.lock().unwrap() = Some(hyper::upgrade::on(request));
        let mut answer = Response::new(Full::<Bytes>::default());
        *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        answer.headers_mut().insert("upgrade", "websocket".parse().unwrap());
        async { Ok::<_, Infallible>(answer) }
    });
    let serving = http1::Builder::new().serve_connection(TokioIo::new(server), service);
    tokio::spawn(serving.with_upgrades());
    let ask = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
    client.write_all(ask).await.unwrap();
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        client.read_exact(&mut byte).await.unwrap();
        head.extend(byte);
    }
    let upgrade = upgrades.lock().unwrap().take().unwrap();
    let (ping, patience) = (Duration::from_hours(1), Duration::from_mins(1));
    (Socket::new(upgrade.await.unwrap(), ping, patience, largest).await, client)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_cut_between_characters() {
        assert_eq!(shortened("short"), "short");
        let long = "é".repeat(100);
        assert_eq!(shortened(&long).len(), 122);
    }
}
