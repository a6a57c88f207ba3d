//! From HTTP to WebSocket.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::node::App;
use crate::server::context::Context;

use super::session;

/// Most bytes of a message.
const MAX_MESSAGE: usize = 1_000_000;

/// Answers a request to speak WebSocket, and speaks it from then on.
pub(crate) fn upgrade<A: App>(
    context: Arc<Context<A>>,
    mut request: Request<Incoming>,
    _peer: SocketAddr,
) -> Response<Full<Bytes>> {
    let key = request.headers().get(header::SEC_WEBSOCKET_KEY).map(HeaderValue::as_bytes);
    let Some(accept) = key.filter(|_| is_websocket(&request)).map(derive_accept_key) else {
        return refuse();
    };
    let Ok(accept) = HeaderValue::from_str(&accept) else { return refuse() };
    let upgraded = hyper::upgrade::on(&mut request);
    // The task ends with the connection, or when the node does.
    tokio::spawn(async move {
        let Ok(stream) = upgraded.await else { return };
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE));
        let stream = TokioIo::new(stream);
        let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
        session::run(context, socket).await;
    });
    let mut response = Response::new(Full::new(Bytes::new()));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    response
}

fn is_websocket(request: &Request<Incoming>) -> bool {
    let headers = request.headers();
    request.method() == Method::GET
        && has_token(headers, &header::CONNECTION, "upgrade")
        && has_token(headers, &header::UPGRADE, "websocket")
        && has_token(headers, &header::SEC_WEBSOCKET_VERSION, "13")
}

fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(token)))
}

/// What the library of the Go node answers to any other request.
fn refuse() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(b"Bad Request\n")));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    let headers = response.headers_mut();
    headers.insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, plain);
    response
}
