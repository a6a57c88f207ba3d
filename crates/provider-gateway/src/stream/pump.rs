//! From a source of lines to a socket, as fast as the client reads.

use std::future::Future;

use futures_util::FutureExt;
use provider_api::stream::CloseCode;
use provider_engine::cluster::port::{Missing, ReadFailure};
use tokio_tungstenite::tungstenite::Message;

use super::socket::{Gone, Happened, Socket};
use super::watch::{Ending, LeaseWatch};
use crate::turns::Turns;

/// How many lines are handed over before they have to be written.
const LINES: usize = 64;
/// How many bytes of them.
const BYTES: usize = 64 << 10;

/// Lines to be sent.
pub(super) trait Source: Send {
    /// The next one; `None` when there are no more. Dropping the future loses none.
    fn next(&mut self) -> impl Future<Output = Result<Option<String>, ReadFailure>> + Send;
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
                Ok(Sent::More(bytes)) => turns.next(bytes).await,
                Ok(Sent::All(code, reason)) => break (code, reason),
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

/// What became of lines.
enum Sent {
    /// So many bytes were written, and there may be more.
    More(usize),
    /// There are no more.
    All(CloseCode, String),
}

/// Sends a line, and those that are there already: a log of a million lines is not written a line
/// at a time.
async fn forward(
    socket: &mut Socket,
    source: &mut impl Source,
    first: Result<Option<String>, ReadFailure>,
) -> Result<Sent, Gone> {
    let (mut next, mut lines, mut bytes) = (first, 0_usize, 0_usize);
    loop {
        match next {
            Ok(Some(line)) => {
                lines = lines.saturating_add(1);
                bytes = bytes.saturating_add(line.len());
                socket.feed(Message::Text(line.into())).await?;
            }
            Ok(None) => {
                socket.flush().await?;
                return Ok(Sent::All(CloseCode::Done, String::new()));
            }
            Err(failure) => {
                socket.flush().await?;
                let (code, reason) = broken(&failure);
                return Ok(Sent::All(code, reason));
            }
        }
        // Nothing is taken that would not be sent.
        let ready =
            if lines < LINES && bytes < BYTES { source.next().now_or_never() } else { None };
        let Some(ready) = ready else { break };
        next = ready;
    }
    socket.flush().await?;
    Ok(Sent::More(bytes))
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
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use akash_types::Address;
    use tokio::io::AsyncReadExt;

    use super::super::socket::piped;
    use super::*;
    use crate::turns::Streams;

    const LINE: usize = 16 << 10;

    /// Lines without end.
    struct Endless(Arc<AtomicUsize>);

    impl Source for Endless {
        async fn next(&mut self) -> Result<Option<String>, ReadFailure> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(Some("x".repeat(LINE)))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_read_is_bounded_in_bytes_and_time() {
        let (socket, mut client) = piped(1024).await;
        let taken = Arc::new(AtomicUsize::new(0));
        let (watch, source) = (LeaseWatch::endless(), Endless(Arc::clone(&taken)));
        let turns = Streams::default().turns(Address::from_bytes(&[1; 20]).unwrap(), u32::MAX);
        let pumping = tokio::spawn(pump(socket, watch, turns, source));
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
