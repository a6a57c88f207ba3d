//! Bodies of requests, not too large and not too slow.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body;
use provider_api::error::ErrorCode;

use super::failure::Failure;

/// Reads a body whole.
pub(super) async fn read<B>(body: B, largest: usize, patience: Duration) -> Result<Bytes, Failure>
where
    B: Body<Data = Bytes> + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let reading = Limited::new(body, largest).collect();
    let Ok(read) = tokio::time::timeout(patience, reading).await else {
        let text = format!("the body did not arrive within {} seconds", patience.as_secs());
        return Err(Failure::plain(StatusCode::REQUEST_TIMEOUT, ErrorCode::BodyTooSlow, text));
    };
    match read {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            let text = format!("the body has more than {largest} bytes");
            Err(Failure::plain(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::BodyTooLarge, text))
        }
        Err(error) => {
            let text = format!("reading the body: {error}");
            Err(Failure::plain(StatusCode::BAD_REQUEST, ErrorCode::BadBody, text))
        }
    }
}
