//! Answers over HTTP/2 that a client leaves unread.
//!
//! Over HTTP/1 an unread answer fills the socket. Over HTTP/2 the socket may be well and the
//! stream's window closed for ever, so the time since a piece of an answer was handed over and not
//! sent is watched, and the connection is cut. Answers are handed over in small pieces: what hyper
//! holds of each is no more than two.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::Instant;

/// Largest piece of an answer that is handed over at once.
const PIECE: usize = 16 * 1024;

/// What one client has not read, and since when.
#[derive(Clone, Debug, Default)]
pub(super) struct Unread(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    since: HashMap<u64, Instant>,
}

impl Unread {
    /// Waits until a piece of some answer has waited for longer than `patience`.
    pub(super) async fn for_longer_than(&self, patience: Duration) {
        loop {
            tokio::time::sleep(patience / 4).await;
            if self.lock().since.values().any(|since| since.elapsed() >= patience) {
                return;
            }
        }
    }

    /// Watches an answer. Keeps `until_read` for as long as the answer lives.
    pub(super) fn watch<B: Body, K>(&self, body: B, until_read: K) -> Watched<B, K> {
        let mut waiting = self.lock();
        let id = waiting.next;
        waiting.next = waiting.next.wrapping_add(1);
        Watched {
            body: Box::pin(body),
            rest: None,
            id,
            unread: self.clone(),
            _until_read: until_read,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A body in pieces, each watched until the next is asked for.
#[derive(Debug)]
pub(super) struct Watched<B: Body, K> {
    body: Pin<Box<B>>,
    rest: Option<B::Data>,
    id: u64,
    unread: Unread,
    _until_read: K,
}

impl<B: Body, K> Watched<B, K> {
    fn piece(&mut self, mut data: B::Data) -> Bytes {
        let piece = data.copy_to_bytes(data.remaining().min(PIECE));
        self.rest = data.has_remaining().then_some(data);
        self.unread.lock().since.insert(self.id, Instant::now());
        piece
    }
}

impl<B: Body, K> Unpin for Watched<B, K> {}

impl<B: Body, K> Body for Watched<B, K> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        self.unread.lock().since.remove(&self.id);
        if let Some(rest) = self.rest.take() {
            return Poll::Ready(Some(Ok(Frame::data(self.piece(rest)))));
        }
        let frame = match ready!(self.body.as_mut().poll_frame(cx)) {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            None => return Poll::Ready(None),
        };
        Poll::Ready(match frame.into_data() {
            Ok(data) => Some(Ok(Frame::data(self.piece(data)))),
            // What is neither data nor trailers is not known, and dropped.
            Err(frame) => frame.into_trailers().ok().map(|trailers| Ok(Frame::trailers(trailers))),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.rest.is_none() { self.body.size_hint() } else { SizeHint::default() }
    }
}

impl<B: Body, K> Drop for Watched<B, K> {
    fn drop(&mut self) {
        self.unread.lock().since.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt, Full};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_comes_whole_in_pieces_and_only_waiting_counts() {
        let unread = Unread::default();
        let patience = Duration::from_secs(60);
        let text = Bytes::from("x".repeat(PIECE * 2 + 1));
        let mut watched = unread.watch(Full::new(text.clone()), ());
        let mut whole = Vec::new();
        while let Some(frame) = watched.frame().await {
            let data = frame.unwrap().into_data().unwrap();
            assert!(data.len() <= PIECE);
            whole.extend_from_slice(&data);
            tokio::time::advance(patience * 9 / 10).await;
        }
        assert_eq!(whole, text);
        let idle = tokio::time::timeout(patience * 10, unread.for_longer_than(patience)).await;
        assert!(idle.is_err(), "nothing waits");

        let mut stalled = unread.watch(Full::new(text), ());
        let _piece = stalled.frame().await;
        unread.for_longer_than(patience).await;
        drop(stalled);
        assert!(unread.lock().since.is_empty());
    }
}
