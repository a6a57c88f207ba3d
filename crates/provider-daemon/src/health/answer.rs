//! What is answered to a request.

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;

use super::Probe;
use crate::metrics::Format;

const TEXT: &str = "text/plain; charset=utf-8";

pub(super) fn answer<B>(probe: &impl Probe, request: &Request<B>) -> Response<Full<Bytes>> {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, TEXT, "only GET and HEAD\n");
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    match request.uri().path() {
        "/metrics" => {
            let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok());
            let format = Format::accepted_by(accept.unwrap_or_default());
            plain(StatusCode::OK, format.content_type(), probe.metrics(format))
        }
        "/healthz" => plain(StatusCode::OK, TEXT, "ok\n"),
        "/readyz" => {
            let readiness = probe.readiness();
            let status = match readiness.ready {
                true => StatusCode::OK,
                false => StatusCode::SERVICE_UNAVAILABLE,
            };
            // Texts and a truth value always have a JSON form.
            let mut json = serde_json::to_string(&readiness).unwrap_or_default();
            json.push('\n');
            plain(status, "application/json", json)
        }
        _ => plain(StatusCode::NOT_FOUND, TEXT, "404 page not found\n"),
    }
}

fn plain(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Bytes>,
) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
