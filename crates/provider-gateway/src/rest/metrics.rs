//! Figures for monitoring.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use provider_api::error::ErrorCode;

use super::answer::{Answer, of_type};
use super::failure::Failure;
use crate::Metrics;

const KIND: HeaderValue =
    HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8; escaping=underscores");

/// What the listener for metrics answers: figures at `/metrics`, nothing elsewhere.
pub fn metrics_answer(metrics: &Metrics, method: &Method, path: &str) -> Answer {
    if path != "/metrics" {
        let text = "404 page not found";
        let failure = Failure::plain(StatusCode::NOT_FOUND, ErrorCode::UnknownRoute, text);
        return failure.response(&HeaderMap::new());
    }
    if !matches!(*method, Method::GET | Method::HEAD) {
        let text = format!("{method} is not for this path");
        let code = ErrorCode::MethodNotAllowed;
        return Failure::empty(StatusCode::METHOD_NOT_ALLOWED, code, text)
            .response(&HeaderMap::new());
    }
    of_type(KIND, Bytes::from(metrics()))
}
