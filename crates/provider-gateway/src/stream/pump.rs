//! From a source of lines to a socket, as fast as the client reads.

use std::future::Future;

use futures_util::FutureExt;
use provider_api::stream::CloseCode;
use provider_engine::cluster::port::{Missing, ReadFailure};
use tokio_tungstenite::tungstenite::Message;

use super::socket::{Gone, Happened, Socket};
use super::watch::{Ending, LeaseWatch};

/// How many batches are handed over before they have to be written.
const BATCHES: usize = 64;

/// Lines to be sent.
pub(super) trait Source: Send {
    /// The next ones; `None` when there are no more. Dropping the future loses none.
    fn next(&mut self) -> impl Future<Output = Result<Option<Vec<String>>, ReadFailure>> + Send;
}

/// Sends what comes until an end, and says which.
pub(super) async fn pump(mut socket: Socket, mut watch: LeaseWatch, mut source: impl Source) {
    let (code, reason) = loop {
        match socket.until(&mut watch, true, source.next()).await {
            Happened::Own(next) => match forward(&mut socket, &mut source, next).await {
                Ok(None) => {}
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
