//! What clients send, read within bounds, and what they are answered with, counted.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http::request::Parts;
use hyper::body::Frame;
use provider_api::error::ErrorCode;
use tokio::time::Sleep;
use tonic::Status;
use tonic::body::Body;

use super::status_of;
use crate::budget::Held;
use crate::rest::{Failure, Readable, read_until, too_large};

/// Before each message: whether it is compressed, and its length.
const PREFIX: usize = 5;
/// What a call takes besides its head and body, in bytes: its task and buffers.
const CALL: usize = 8 * 1024;

/// What a call weighs before anything of its body is there.
pub(super) fn weight(parts: &Parts) -> usize {
    let header = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        name.as_str().len().saturating_add(value.len())
    };
    parts.headers.iter().map(header).sum::<usize>().saturating_add(CALL)
}

/// The one message of a call, with its prefix, once it is there.
pub(super) async fn message<B: Readable>(
    body: B,
    largest: usize,
    patience: Duration,
    held: &mut Held,
) -> Result<Bytes, Failure> {
    read_until(body, patience, held, |read| is_whole(read, largest)).await
}

/// True when the message is there, whatever comes after it.
fn is_whole(read: &[u8], largest: usize) -> Result<bool, Failure> {
    let Some(([_compressed, length @ ..], message)) = read.split_first_chunk::<PREFIX>() else {
        return Ok(false);
    };
    let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
    if length > largest {
        return Err(too_large(largest));
    }
    Ok(message.len() >= length)
}

/// A body of several messages that breaks off after a while. Keeps `place` for as long as it lives.
pub(super) fn ending<B: Readable>(
    body: B,
    after: Duration,
    place: impl Send + Unpin + 'static,
) -> Body {
    let end = Box::pin(tokio::time::sleep(after));
    Body::new(Ending { body: Body::new(body), end, _place: place })
}

struct Ending<P> {
    body: Body,
    end: Pin<Box<Sleep>>,
    _place: P,
}

impl<P: Unpin> hyper::body::Body for Ending<P> {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.end.as_mut().poll(cx).is_ready() {
            let text = "the call takes too long";
            let code = ErrorCode::BodyTooSlow;
            let failure = Failure::plain(StatusCode::REQUEST_TIMEOUT, code, text);
            return Poll::Ready(Some(Err(status_of(&failure))));
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }
}

/// An answer whose newest message is counted until the next one is asked for.
pub(super) fn counted(body: Body, held: Held) -> Body {
    Body::new(Counted { body, held })
}

struct Counted {
    body: Body,
    held: Held,
}

impl hyper::body::Body for Counted {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if let Some(Ok(frame)) = &frame {
            self.held.clear();
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            if let Err(busy) = self.held.grow(bytes.saturating_add(CALL)) {
                return Poll::Ready(Some(Err(status_of(&busy.into()))));
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_whole_when_its_bytes_are_there() {
        let whole = |bytes: &[u8]| is_whole(bytes, 4).map_err(|failure| failure.code);
        assert_eq!(whole(&[0, 0, 0, 0]), Ok(false));
        assert_eq!(whole(&[0, 0, 0, 0, 0]), Ok(true));
        assert_eq!(whole(&[0, 0, 0, 0, 4, 1, 2, 3]), Ok(false));
        assert_eq!(whole(&[0, 0, 0, 0, 4, 1, 2, 3, 4, 9]), Ok(true));
        assert_eq!(whole(&[0, 0, 0, 0, 5]), Err(ErrorCode::BodyTooLarge));
        assert_eq!(whole(&[0, 255, 255, 255, 255]), Err(ErrorCode::BodyTooLarge));
    }
}
