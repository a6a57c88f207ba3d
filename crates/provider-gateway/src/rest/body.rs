//! Bodies of requests, not too large, not too slow, and counted as they arrive.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http_body_util::BodyExt;
use provider_api::error::ErrorCode;

use super::Readable;
use super::failure::Failure;
use crate::budget::Held;

/// Reads a body whole. `held` keeps what it weighs.
pub(super) async fn read<B: Readable>(
    body: B,
    largest: usize,
    patience: Duration,
    held: &mut Held,
) -> Result<Bytes, Failure> {
    read_until(body, patience, held, |read| match read.len() > largest {
        true => Err(too_large(largest)),
        false => Ok(false),
    })
    .await
}

/// Reads a body until `is_enough`, or to its end. Nothing is allocated for what has not arrived.
pub(crate) async fn read_until<B: Readable>(
    body: B,
    patience: Duration,
    held: &mut Held,
    is_enough: impl Fn(&[u8]) -> Result<bool, Failure>,
) -> Result<Bytes, Failure> {
    let mut body = std::pin::pin!(body);
    let mut read = BytesMut::new();
    let reading = async {
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                let text = format!("reading the body: {}", error.into());
                Failure::plain(StatusCode::BAD_REQUEST, ErrorCode::BadBody, text)
            })?;
            let Ok(data) = frame.into_data() else { continue };
            held.grow(data.len())?;
            read.extend_from_slice(&data);
            if is_enough(&read)? {
                break;
            }
        }
        Ok(())
    };
    match tokio::time::timeout(patience, reading).await {
        Ok(done) => done.map(|()| read.freeze()),
        Err(_) => {
            let text = format!("the body did not arrive within {} seconds", patience.as_secs());
            Err(Failure::plain(StatusCode::REQUEST_TIMEOUT, ErrorCode::BodyTooSlow, text))
        }
    }
}

pub(crate) fn too_large(largest: usize) -> Failure {
    let text = format!("the body has more than {largest} bytes");
    Failure::plain(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::BodyTooLarge, text)
}
