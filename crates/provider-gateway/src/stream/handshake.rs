//! Whether a request may become a WebSocket: one plain function of its headers.
//!
//! The checks, their order and their words are those of the existing provider.

use std::future::Future;

use akash_types::LeaseId;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{
    CONNECTION, HOST, HeaderName, ORIGIN, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use provider_api::error::ErrorCode;
use provider_api::query::{Query, StreamParams};
use provider_api::stream::CloseCode;
use provider_engine::cluster::port::{Cluster, ReadFailure, ServiceChoice};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::pump::{Source, ended, not_opened, pump};
use super::socket::Happened;
use super::{Allowed, bad_parameter};
use crate::Gateway;
use crate::auth::{LeaseRef, Request, Services};
use crate::port::Provider;
use crate::rest::{Answer, Failure};

/// What to answer the client's key with.
pub(super) fn accept(method: &Method, headers: &HeaderMap) -> Result<HeaderValue, Failure> {
    if !has_token(headers, &CONNECTION, "upgrade") {
        return Err(refused(StatusCode::BAD_REQUEST, "Bad Request"));
    }
    if !has_token(headers, &UPGRADE, "websocket") {
        let refused = refused(StatusCode::UPGRADE_REQUIRED, "Upgrade Required");
        return Err(refused.with_header(UPGRADE, HeaderValue::from_static("websocket")));
    }
    if *method != Method::GET {
        return Err(refused(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed"));
    }
    if !has_token(headers, &SEC_WEBSOCKET_VERSION, "13") {
        return Err(refused(StatusCode::BAD_REQUEST, "Bad Request"));
    }
    if !same_origin(headers) {
        return Err(with_version(Failure::plain(
            StatusCode::FORBIDDEN,
            ErrorCode::ForeignOrigin,
            "Forbidden",
        )));
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).map(HeaderValue::as_bytes).unwrap_or_default();
    if STANDARD.decode(key).map_or(0, |bytes| bytes.len()) != 16 {
        return Err(refused(StatusCode::BAD_REQUEST, "Bad Request"));
    }
    HeaderValue::from_str(&derive_accept_key(key))
        .map_err(|_| refused(StatusCode::BAD_REQUEST, "Bad Request"))
}

fn refused(status: StatusCode, text: &str) -> Failure {
    with_version(Failure::plain(status, ErrorCode::NoHandshake, text))
}

fn with_version(failure: Failure) -> Failure {
    failure.with_header(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"))
}

/// Whether one of the comma-separated words is `token`.
fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|word| word.trim().eq_ignore_ascii_case(token))
}

/// A page of another host may not connect with what its visitor is known by.
fn same_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
    let origin = text(origin).and_then(|text| text.parse::<Uri>().ok());
    let host = headers.get(HOST).and_then(text);
    match (origin.as_ref().and_then(Uri::authority), host) {
        (Some(origin), Some(host)) => origin.as_str().eq_ignore_ascii_case(&host),
        _ => false,
    }
}

/// Largest message of a client that is only to read.
const SMALL: usize = 4 << 10;

/// What is asked with a lease and the names of services.
pub(super) type Asked = for<'a> fn(LeaseRef, &'a [&'a str]) -> Request<'a>;

/// What is read, once it is allowed.
pub(super) struct Reading {
    pub(super) lease: LeaseId,
    /// Of which services something may be told.
    pub(super) services: Services,
    pub(super) params: StreamParams,
}

impl<P: Provider, C: Cluster> Gateway<P, C> {
    /// Answers the handshake, opens what is read and sends it. A parameter that makes no sense is
    /// told before anything else.
    pub(super) async fn read<S, F>(
        &self,
        lease: Result<LeaseRef, Failure>,
        asked: Asked,
        parts: &mut Parts,
        open: impl FnOnce(C, Reading) -> F + Send + 'static,
    ) -> Result<Answer, Failure>
    where
        S: Source,
        F: Future<Output = Result<S, ReadFailure>> + Send,
    {
        let query = Query::parse(parts.uri.query().unwrap_or_default());
        let reading = lease.and_then(|lease| {
            let params = StreamParams::read(&query);
            Ok((lease, params.map_err(|error| bad_parameter(error.to_string()))?))
        });
        let names = reading.iter().flat_map(|(_, params)| &params.services);
        let names: Vec<&str> = names.map(String::as_str).collect();
        let request = reading.as_ref().map(|(lease, _)| asked(*lease, &names));
        let request = request.map_err(Failure::clone);
        let grant = self.authorizer.authorize(parts, request).await?;
        let (_, params) = reading?;
        // A lease that is not there is told after the handshake.
        let found = self.allowed(grant, &parts.extensions);
        let of = found.as_ref().map(|found| found.lease);
        self.open(parts, of, SMALL, async move |gateway, mut socket| {
            let Some(Allowed { lease, services, mut watch }) = found else {
                return socket.finish(CloseCode::NotFound, "").await;
            };
            let turns = gateway.log_turns(lease);
            let opened = open(gateway.cluster, Reading { lease, services, params });
            match socket.until(&mut watch, false, opened).await {
                Happened::Own(Ok(source)) => pump(socket, watch, turns, source).await,
                Happened::Own(Err(failure)) => {
                    let (code, reason) = not_opened(&failure);
                    socket.finish(code, reason).await;
                }
                Happened::Ended(ending) => {
                    let (code, reason) = ended(ending);
                    socket.finish(code, &reason).await;
                }
                Happened::Received(_) | Happened::Gone => {}
            }
        })
    }
}

/// All services if none is named.
pub(super) fn choice(names: Vec<String>) -> ServiceChoice {
    if names.is_empty() { ServiceChoice::All } else { ServiceChoice::Named(names) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(changes: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let usual = [
            ("host", "127.0.0.1:8443"),
            ("upgrade", "websocket"),
            ("connection", "keep-alive, Upgrade"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ("sec-websocket-version", "13"),
        ];
        for (name, value) in usual.iter().chain(changes) {
            match *value {
                "" => drop(headers.remove(*name)),
                value => drop(headers.insert(*name, HeaderValue::from_static(value))),
            }
        }
        headers
    }

    #[test]
    fn a_key_is_answered_as_recorded() {
        let accepted = accept(&Method::GET, &headers(&[])).unwrap();
        assert_eq!(accepted, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        let own = [("origin", "https://127.0.0.1:8443")];
        assert!(accept(&Method::GET, &headers(&own)).is_ok());
    }

    #[test]
    fn checks_come_in_order_and_say_what_they_miss() {
        let said = |method: Method, changes: &[(&'static str, &'static str)]| {
            let failure = accept(&method, &headers(changes)).unwrap_err();
            (failure.status.as_u16(), failure.message)
        };
        type Row = (Method, &'static [(&'static str, &'static str)], (u16, &'static str));
        let table: [Row; 7] = [
            (Method::POST, &[("connection", "")], (400, "Bad Request")),
            (Method::POST, &[("upgrade", "h2c")], (426, "Upgrade Required")),
            (Method::POST, &[], (405, "Method Not Allowed")),
            (Method::GET, &[("sec-websocket-version", "8")], (400, "Bad Request")),
            (Method::GET, &[("origin", "https://evil.example")], (403, "Forbidden")),
            (Method::GET, &[("origin", "null")], (403, "Forbidden")),
            (Method::GET, &[("sec-websocket-key", "c2hvcnQ=")], (400, "Bad Request")),
        ];
        for (method, changes, (status, text)) in table {
            assert_eq!(said(method, changes), (status, text.to_owned()), "{changes:?}");
        }
    }
}
