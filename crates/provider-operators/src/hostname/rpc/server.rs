//! Connections and their limits.

use std::convert::Infallible;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;

use super::Rpc;
use crate::Listener;

/// Calls at once of each.
const CALLS: u32 = 32;
/// How long a connection may be silent before it is asked whether it is there.
const SILENCE: Duration = Duration::from_secs(30);

/// Answers for as long as this is polled. Dropping it ends all connections.
pub async fn serve(listener: Listener, rpc: Rpc) -> Infallible {
    listener.serve_each(|stream| connection(stream, rpc.clone())).await
}

async fn connection(stream: TcpStream, rpc: Rpc) {
    let service = service_fn(move |request| {
        let rpc = rpc.clone();
        async move { Ok::<_, Infallible>(rpc.call(request).await) }
    });
    // Whoever asks sees how it ended.
    let _ = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(SILENCE)
        .max_concurrent_streams(CALLS)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
