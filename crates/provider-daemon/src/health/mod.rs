//! A small HTTP server for those who watch: metrics, and whether the provider is alive and ready.
//!
//! | path | answers |
//! |---|---|
//! | `/metrics` | [`Probe::metrics`] |
//! | `/healthz` | 200 as long as the process answers at all |
//! | `/readyz` | 200, or 503 with what is missing, as JSON |
//! | anything else | 404 |
//!
//! Liveness says nothing of chain and cluster on purpose: ending a process because a node is down
//! ends what it could still do, and helps nobody.
//!
//! The server reads through [`Probe`] and never waits for a busy part. It is open to whoever can
//! reach it, so every connection has limits: in number, in time, in size. Each serves one request.
//!
//! Must not know: where the answers come from.

pub use provider_api::status::{Missing, Readiness};

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use akash_chain::follow::FollowStatus;
use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use provider_engine::engine::{Published, Status};
use provider_operators::Listener;
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::metrics::Format;

/// What the server shows. Answers come from what was last seen, at once.
pub trait Probe: Send + Sync + 'static {
    fn metrics(&self, format: Format) -> String;

    /// Whether the provider can do its work.
    fn readiness(&self) -> Readiness;
}

/// Blocks behind the head that are normal: one may always be on its way.
const LAG: u64 = 10;

/// What is missing, judged by how chain and engine are. What is absent has not begun.
fn judge(follow: Option<&FollowStatus>, engine: Option<&Status>) -> Readiness {
    let mut missing = Vec::new();
    let mut miss = |what, why: &str| missing.push(Missing { what, why: why.to_owned() });
    match follow {
        None => miss("chain", "it is not followed yet"),
        Some(follow) => {
            if let Some(why) = stale(follow) {
                miss("chain", &why);
            }
        }
    }
    match engine {
        None => {
            miss("cluster", "it was not looked at yet");
            miss("engine", "it has not begun");
        }
        Some(engine) => {
            if !engine.cluster_fresh {
                miss("cluster", "there is no fresh view of it");
            }
            if !engine.ready {
                miss("engine", "it is still reading how things are");
            }
        }
    }
    Readiness::without(missing)
}

/// Judges again whenever chain or engine change, and says it to all who ask: `/readyz`, metrics,
/// the operator's socket and gRPC health have one answer.
pub(crate) async fn keep_judging(
    mut chain: watch::Receiver<FollowStatus>,
    mut engine: watch::Receiver<Arc<Published>>,
    told: watch::Sender<Arc<Readiness>>,
) {
    loop {
        let now = judge(Some(&chain.borrow_and_update()), Some(&engine.borrow_and_update().status));
        told.send_if_modified(|before| {
            let is_news = **before != now;
            if is_news {
                *before = Arc::new(now);
            }
            is_news
        });
        tokio::select! {
            Ok(()) = chain.changed() => {}
            Ok(()) = engine.changed() => {}
            else => return,
        }
    }
}

/// Why the chain is not fresh, if it is not.
fn stale(follow: &FollowStatus) -> Option<String> {
    if follow.stalled {
        return Some(match follow.head {
            Some(head) => format!("no new block came for too long, the last is {head}"),
            None => "no node can be used".to_owned(),
        });
    }
    if follow.cursor.is_none() {
        return Some("it is not known yet where to begin".to_owned());
    }
    if let Some(resync) = &follow.resync {
        return Some(format!("blocks were skipped and not followed by one yet: {resync:?}"));
    }
    (follow.lag > LAG).then(|| format!("{} blocks are still to be read", follow.lag))
}

const TEXT: &str = "text/plain; charset=utf-8";

fn answer<B>(probe: &impl Probe, request: &Request<B>) -> Response<Full<Bytes>> {
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

/// What a stranger may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once. More are closed at once.
    pub connections: usize,
    /// How long a connection may last, from its first byte to its last.
    pub time: Duration,
    /// Bytes of a request's head.
    pub head: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 64, time: Duration::from_secs(10), head: 16 * 1024 }
    }
}

/// hyper takes no less than this.
const LEAST_HEAD: usize = 8 * 1024;

/// A listener that answers.
#[derive(Debug)]
pub struct HealthServer {
    listener: Listener,
    limits: Limits,
}

impl HealthServer {
    /// Listens at `address`.
    pub async fn bind(address: SocketAddr, limits: Limits) -> io::Result<Self> {
        Ok(Self { listener: Listener::bind(address).await?, limits })
    }

    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.listener.local_address()
    }

    /// Answers for as long as this is polled. Dropping it ends all connections.
    pub async fn run(self, probe: impl Probe) -> Infallible {
        let (probe, limits) = (Arc::new(probe), self.limits);
        let serve = |stream| serve(stream, limits, Arc::clone(&probe));
        self.listener.serve_each(limits.connections, serve).await
    }
}

async fn serve(stream: TcpStream, limits: Limits, probe: Arc<impl Probe>) {
    let service = service_fn(move |request| {
        let response = answer(&*probe, &request);
        async move { Ok::<_, Infallible>(response) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.time)
        .keep_alive(false)
        .max_headers(64)
        .max_buf_size(limits.head.max(LEAST_HEAD))
        .serve_connection(TokioIo::new(stream), service);
    // Whoever asks sees how it ended; nobody else needs to.
    let _ = tokio::time::timeout(limits.time, connection).await;
}

#[cfg(test)]
mod tests;
