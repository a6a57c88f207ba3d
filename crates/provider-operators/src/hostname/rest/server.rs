//! Connections and their limits.

use std::convert::Infallible;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

use super::Rest;
use crate::Listener;

/// How long a connection may last.
const TIME: Duration = Duration::from_secs(30);

/// Answers for as long as this is polled. Dropping it ends all connections.
pub async fn serve(listener: Listener, rest: Rest) -> Infallible {
    listener.serve_each(|stream| connection(stream, rest.clone())).await
}

async fn connection(stream: TcpStream, rest: Rest) {
    let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let response = rest.answer(request.method(), request.uri().path());
        async move { Ok::<_, Infallible>(response) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(TIME)
        .serve_connection(TokioIo::new(stream), service);
    // Whoever asks sees how it ended.
    let _ = tokio::time::timeout(TIME, connection).await;
}
