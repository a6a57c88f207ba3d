//! What is served and what is not, over HTTP, as the Go operator answers.
//!
//! | | |
//! |---|---|
//! | `/health` | `OK`, to any method |
//! | `/version` | what this program is |
//! | `/managed-hostnames` | hosts that have their route |
//! | `/ignore-list` | leases with hosts that have none, and why |
//! | `/metrics` | what is counted, as Prometheus reads it, where there is such a page |
//!
//! The lists are made again at most every few seconds, and are empty (204) while there is nothing
//! to tell. Decides nothing.

mod document;

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_TYPE, HeaderValue, LAST_MODIFIED, X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, Response, StatusCode};
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use k8s_openapi::jiff::Timestamp;
use tokio::net::TcpStream;

use super::operator::HostnameOperator;
use super::reconcile::HostIndex;
use crate::Listener;

#[derive(Clone, derive_more::Debug)]
#[debug("Rest {{ version: {:?}, .. }}", self.0.version)]
pub struct Rest(Arc<Inner>);

/// Makes the page of what is counted: its type in HTTP, and the page.
pub type Page = Arc<dyn Fn() -> (&'static str, String) + Send + Sync>;

struct Inner {
    operator: HostnameOperator,
    version: String,
    page: Option<Page>,
    refresh: Duration,
    managed: Mutex<Prepared>,
    ignored: Mutex<Prepared>,
}

/// A document, and when it was last another one.
#[derive(Debug, Default)]
struct Prepared {
    body: Option<String>,
    made: Option<Instant>,
    modified: Timestamp,
}

impl Rest {
    /// Answers about `operator`, made anew at most every `refresh`; `version` is a JSON document.
    pub fn new(
        operator: HostnameOperator,
        version: String,
        refresh: Duration,
        page: Option<Page>,
    ) -> Self {
        let (managed, ignored) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Inner { operator, version, page, refresh, managed, ignored }))
    }

    pub fn answer(&self, method: &Method, path: &str) -> Response<Full<Bytes>> {
        let inner = &*self.0;
        let is_read = matches!(*method, Method::GET | Method::HEAD);
        match path {
            "/health" => text(StatusCode::OK, "OK".to_owned()),
            "/version" | "/managed-hostnames" | "/ignore-list" | "/metrics" if !is_read => {
                text(StatusCode::METHOD_NOT_ALLOWED, String::new())
            }
            "/version" => text(StatusCode::OK, inner.version.clone()),
            "/managed-hostnames" => self.prepared(&inner.managed, document::managed),
            "/ignore-list" => self.prepared(&inner.ignored, document::ignored),
            "/metrics" if inner.page.is_some() => {
                let (kind, page) = inner.page.as_ref().map(|page| page()).unwrap_or_default();
                let mut answer = text(StatusCode::OK, page);
                answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
                answer
            }
            _ => {
                let mut answer = text(StatusCode::NOT_FOUND, "404 page not found\n".to_owned());
                let nosniff = HeaderValue::from_static("nosniff");
                answer.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, nosniff);
                answer
            }
        }
    }

    fn prepared(
        &self,
        kept: &Mutex<Prepared>,
        make: fn(&HostIndex) -> Option<String>,
    ) -> Response<Full<Bytes>> {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.made.is_none_or(|made| made.elapsed() >= self.0.refresh) {
            let body = make(&self.0.operator.index());
            if body != kept.body {
                *kept = Prepared { body, made: None, modified: Timestamp::now() };
            }
            kept.made = Some(Instant::now());
        }
        let mut answer = match &kept.body {
            None => {
                let mut answer = text(StatusCode::NO_CONTENT, String::new());
                answer.headers_mut().remove(CONTENT_TYPE);
                answer
            }
            Some(body) => {
                let mut answer = text(StatusCode::OK, body.clone());
                let modified = kept.modified.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
                if let Ok(modified) = HeaderValue::from_str(&modified) {
                    answer.headers_mut().insert(LAST_MODIFIED, modified);
                }
                answer
            }
        };
        let never = HeaderValue::from_static("no-cache, max-age=0");
        answer.headers_mut().insert(CACHE_CONTROL, never);
        answer
    }
}

fn text(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    *answer.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, plain);
    answer
}

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
