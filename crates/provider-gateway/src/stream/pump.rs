//! From a source of lines to a socket, as fast as the client reads.

use std::future::Future;

use futures_util::FutureExt;
use provider_api::stream::CloseCode;
use provider_engine::cluster::port::{Missing, ReadFailure};
use tokio_tungstenite::tungstenite::Message;

use super::socket::{Gone, Happened, Socket};
use super::watch::{Ending, LeaseWatch};
use crate::gateway::Turns;

/// How many batches are handed over before they have to be written.
const BATCHES: usize = 64;

/// Lines to be sent.
pub(super) trait Source: Send {
    /// The next ones; `None` when there are no more. Dropping the future loses none.
    fn next(&mut self) -> impl Future<Output = Result<Option<Vec<String>>, ReadFailure>> + Send;
}

/// Sends what comes until an end, and says which.
pub(super) async fn pump(
    mut socket: Socket,
    mut watch: LeaseWatch,
    turns: Turns,
    mut source: impl Source,
) {
    let (code, reason) = loop {
        match socket.until(&mut watch, true, source.next()).await {
            Happened::Own(next) => match forward(&mut socket, &mut source, next).await {
                Ok(None) => turns.next().await,
                Ok(Some(end)) => break end,
                Err(Gone) => return,
            },
            // Nothing that a client says is of interest.
            Happened::Received(_) => {}
            Happened::Ended(ending) => break ended(ending),
            Happened::Gone => return,
        }
    };
    socket.finish(code, &reason).await;
}

/// Sends one batch, and those that are there already: a log of a million lines is not written a
/// line at a time.
async fn forward(
    socket: &mut Socket,
    source: &mut impl Source,
    first: Result<Option<Vec<String>>, ReadFailure>,
) -> Result<Option<(CloseCode, String)>, Gone> {
    let mut next = Some(first);
    for left in (0..BATCHES).rev() {
        match next.take() {
            Some(Ok(Some(batch))) => {
                for line in batch {
                    socket.feed(Message::Text(line.into())).await?;
                }
            }
            Some(Ok(None)) => {
                socket.flush().await?;
                return Ok(Some((CloseCode::Done, String::new())));
            }
            Some(Err(failure)) => {
                socket.flush().await?;
                return Ok(Some(broken(&failure)));
            }
            None => break,
        }
        // Nothing is taken that would not be sent.
        next = if left > 0 { source.next().now_or_never() } else { None };
    }
    socket.flush().await?;
    Ok(None)
}

/// Why a stream that was open ends.
fn broken(failure: &ReadFailure) -> (CloseCode, String) {
    match failure {
        ReadFailure::NotFound(Missing::Service(_)) => (CloseCode::Failed, failure.to_string()),
        ReadFailure::NotFound(_) => ended(Ending::LeaseClosed),
        ReadFailure::Unavailable(why) => (CloseCode::Unavailable, why.clone()),
        ReadFailure::Refused(why) => (CloseCode::Failed, why.clone()),
    }
}

/// Why a stream that was never open ends, as existing clients know it.
pub(super) fn not_opened(failure: &ReadFailure) -> (CloseCode, &'static str) {
    match failure {
        ReadFailure::NotFound(Missing::Lease | Missing::Workloads) => (CloseCode::NotFound, ""),
        ReadFailure::NotFound(Missing::Service(_)) => (CloseCode::Failed, "no running pods"),
        ReadFailure::Unavailable(_) => (CloseCode::Unavailable, ""),
        ReadFailure::Refused(_) => (CloseCode::Failed, ""),
    }
}

pub(super) fn ended(ending: Ending) -> (CloseCode, String) {
    match ending {
        Ending::LeaseClosed => (CloseCode::LeaseClosed, "lease-closed".to_owned()),
        Ending::Stopping => (CloseCode::Stopping, "provider-stopping".to_owned()),
        Ending::TooOld => (CloseCode::Stopping, "stream-too-old".to_owned()),
        Ending::Revoked => (CloseCode::Failed, "certificate-revoked".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use bytes::Bytes;
    use http::{Request, Response, StatusCode};
    use http_body_util::Full;
    use hyper::body::Incoming;
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    use super::*;

    const LINE: usize = 16 << 10;

    /// Lines without end.
    struct Endless(Arc<AtomicUsize>);

    impl Source for Endless {
        async fn next(&mut self) -> Result<Option<Vec<String>>, ReadFailure> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(Some(vec!["x".repeat(LINE)]))
        }
    }

    /// A socket over a pipe that holds next to nothing, and the client's end of it.
    async fn socket() -> (Socket, DuplexStream) {
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
        (Socket::new(upgrade.await.unwrap(), ping, patience, 1024).await, client)
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_read_is_bounded_in_bytes_and_time() {
        let (socket, mut client) = socket().await;
        let taken = Arc::new(AtomicUsize::new(0));
        let (watch, source) = (LeaseWatch::endless(), Endless(Arc::clone(&taken)));
        let pumping = tokio::spawn(pump(socket, watch, Turns::default(), source));
        tokio::time::sleep(Duration::from_secs(30)).await;
        let unread = taken.load(Ordering::Relaxed) * LINE;
        assert!((1..=64 << 10).contains(&unread), "{unread} bytes wait to be read");
        // Reading goes on where it stopped.
        let mut some = vec![0; LINE * 8];
        client.read_exact(&mut some).await.unwrap();
        assert!(taken.load(Ordering::Relaxed) * LINE > unread);
        // A client that never reads again is left.
        tokio::time::timeout(Duration::from_mins(2), pumping).await.unwrap().unwrap();
    }
}
