//! Answers that went well.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;
use provider_api::error::ErrorCode;
use serde::Serialize;

use super::failure::Failure;

/// What goes back to the client.
pub type Answer = Response<Full<Bytes>>;

pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=UTF-8");

/// A body of that type.
pub(super) fn of_type(kind: HeaderValue, body: Bytes) -> Answer {
    let mut response = Response::new(Full::new(body));
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// A value as JSON.
pub(super) fn json<T: Serialize>(value: &T) -> Result<Answer, Failure> {
    Ok(of_type(JSON, encode(value)?))
}

pub(super) fn encode<T: Serialize>(value: &T) -> Result<Bytes, Failure> {
    provider_api::json::to_vec(value).map(Bytes::from).map_err(|error| {
        let text = format!("writing the answer: {error}");
        Failure::plain(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal, text)
    })
}

/// A status and nothing else.
pub(super) fn nothing(status: StatusCode) -> Answer {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}
