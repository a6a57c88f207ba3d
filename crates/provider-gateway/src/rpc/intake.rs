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
use crate::places::Held;
use crate::rest::{Failure, Readable, read_until, too_large, too_many_values};

/// Before each message: whether it is compressed, and its length.
const PREFIX: usize = 5;
/// What a call takes besides its head and body, in bytes: its task and buffers.
const CALL: usize = 8 * 1024;
/// Most fields of a message. A service of a manifest has about a hundred.
const MOST_FIELDS: usize = 32 * 1024;
/// What a field takes once it is decoded, in bytes.
const FIELD: usize = 128;
/// How deep messages are looked for in a message: deeper than any that is served.
const DEEPEST: usize = 10;

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
    read_until(body, patience, held, |read, _| is_whole(read, largest)).await
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

/// What a message takes once it is decoded, besides its bytes: an empty message of two bytes
/// becomes a struct of hundreds. Refuses one with too many fields before it is decoded.
pub(super) fn decoded_weight(framed: &[u8]) -> Result<usize, Failure> {
    let message = framed.get(PREFIX..).unwrap_or_default();
    let mut left = MOST_FIELDS;
    match count_fields(message, DEEPEST, &mut left) {
        Err(TooMany) => Err(too_many_values(MOST_FIELDS)),
        // What is no message fails to decode.
        Ok(_is_message) => Ok(MOST_FIELDS.saturating_sub(left).saturating_mul(FIELD)),
    }
}

/// There are more fields than were left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TooMany;

/// Takes the fields of a message, and of what looks like a message in it, from those that are
/// `left`. A text that looks like one counts for more than it takes, never for less. Returns false
/// for what is no message; then only the fields before the mistake are taken.
fn count_fields(mut bytes: &[u8], depth: usize, left: &mut usize) -> Result<bool, TooMany> {
    while !bytes.is_empty() {
        let Some(key) = varint(&mut bytes) else { return Ok(false) };
        *left = left.checked_sub(1).ok_or(TooMany)?;
        let length = match key & 7 {
            0 => match varint(&mut bytes) {
                Some(_) => 0,
                None => return Ok(false),
            },
            1 => 8,
            2 => match varint(&mut bytes).and_then(|length| usize::try_from(length).ok()) {
                Some(length) => length,
                None => return Ok(false),
            },
            5 => 4,
            _ => return Ok(false),
        };
        let Some((field, rest)) = bytes.split_at_checked(length) else { return Ok(false) };
        bytes = rest;
        if key & 7 == 2 && depth > 0 {
            let before = *left;
            if !count_fields(field, depth.saturating_sub(1), left)? {
                // Not a message: it cannot be decoded as one either.
                *left = before;
            }
        }
    }
    Ok(true)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
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

    /// A message of one field with so many bytes in it.
    fn nested(inner: &[u8]) -> Vec<u8> {
        let mut outer = vec![0x12];
        let mut length = inner.len();
        while length > 0x7f {
            outer.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
            length >>= 7;
        }
        outer.push(u8::try_from(length).unwrap());
        outer.extend(inner);
        outer
    }

    fn fields(message: &[u8]) -> Option<usize> {
        let framed = [&[0; PREFIX], message].concat();
        decoded_weight(&framed).ok().map(|weight| weight / FIELD)
    }

    #[test]
    fn fields_are_counted_at_every_depth() {
        let flat = [0x08, 0x96, 0x01, 0x15, 1, 2, 3, 4, 0x19, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(fields(&flat), Some(3));
        assert_eq!(fields(&nested(&nested(&flat))), Some(5));
        // A text is one field, and what breaks off is not decoded.
        assert_eq!(fields(&nested(b"hello")), Some(1));
        assert_eq!(fields(&[0x12, 0x7f, 1]), Some(1));
        assert_eq!(fields(&[]), Some(0));
    }

    #[test]
    fn a_message_of_empty_messages_is_refused_before_it_is_decoded() {
        let most = nested(&[0x12, 0].repeat(MOST_FIELDS - 1));
        assert_eq!(fields(&most), Some(MOST_FIELDS));
        assert_eq!(fields(&nested(&[0x12, 0].repeat(MOST_FIELDS))), None);
    }

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
