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

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use akash_types::LeaseId;
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
use provider_crd::names;
use serde::Serialize;
use tokio::net::TcpStream;

use super::operator::HostnameOperator;
use super::reconcile::HostIndex;
use crate::hostname::backends::Answers;
use crate::hostname::claim::Claim;
use crate::hostname::reconcile::{Moment, State};
use crate::listener::{CONNECTIONS, Listener};

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
            "/managed-hostnames" => self.prepared(&inner.managed, managed),
            "/ignore-list" => self.prepared(&inner.ignored, ignored),
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
    listener.serve_each(CONNECTIONS, |stream| connection(stream, rest.clone())).await
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

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Managed {
    #[serde(rename = "LeaseID")]
    lease_id: Lease,
    namespace: String,
    external_port: u32,
    service_name: String,
    last_update: String,
    /// Not of the Go operator: how the host is, and how many answer, where that is known.
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ready_backends: Option<u32>,
    /// What its route lacks although it serves: a name, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<Condition>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Condition {
    name: &'static str,
    message: String,
    options: Vec<&'static str>,
}

#[derive(Serialize)]
struct Lease {
    owner: String,
    dseq: u64,
    gseq: u32,
    oseq: u32,
    provider: String,
    bseq: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Ignored {
    hostnames: Vec<String>,
    last_error: String,
    last_error_type: &'static str,
    failed_at: String,
    failure_count: u32,
    namespace: String,
}

/// Hosts that have their route; `None` if none has.
fn managed(index: &HostIndex) -> Option<String> {
    let managed = |host: &str, claim: &Claim, since| Managed {
        lease_id: lease(&claim.lease),
        namespace: names::lease_namespace(&claim.lease),
        external_port: claim.port,
        service_name: claim.service.clone(),
        last_update: go_time(since),
        state: index.state(host).unwrap_or(State::Pending).as_str(),
        ready_backends: match index.answers(host) {
            Some(Answers::Ready(count)) => Some(count),
            Some(Answers::Nobody) => Some(0),
            Some(Answers::Unknown) | None => None,
        },
        condition: index.condition(host).map(|it| Condition {
            name: it.name,
            message: it.why.clone(),
            options: it.options.clone(),
        }),
    };
    let all: BTreeMap<_, _> =
        index.served().map(|(host, it)| (host, managed(host, &it.claim, it.since))).collect();
    (!all.is_empty()).then(|| serde_json::to_string(&all).ok()).flatten()
}

/// Leases with hosts that have no route, or not the one they should; `None` if there are none.
fn ignored(index: &HostIndex) -> Option<String> {
    let failed = index.retries().map(|(host, it)| (host, (&it.why, it.kind, it.at, it.failures)));
    let idle = index.reasons().map(|(host, it)| (host, (&it.why, it.kind, it.since, 1)));
    let wrong: BTreeMap<_, _> = idle.chain(failed).collect();
    let mut all: BTreeMap<String, Ignored> = BTreeMap::new();
    for claim in index.all_claims() {
        let lost = index.lost(claim).map(|it| (&it.why, it.kind, it.since, 1));
        let of_host = || wrong.get(claim.host.as_str()).copied().filter(|_| index.counts(claim));
        let found = lost.or_else(of_host);
        let Some((why, kind, at, failures)) = found else {
            continue;
        };
        let entry = all.entry(claim.lease.to_string()).or_insert_with(|| Ignored {
            hostnames: Vec::new(),
            last_error: why.clone(),
            last_error_type: kind,
            failed_at: go_time(at),
            failure_count: 0,
            namespace: names::lease_namespace(&claim.lease),
        });
        entry.hostnames.push(claim.host.clone());
        entry.failure_count = entry.failure_count.saturating_add(failures);
    }
    (!all.is_empty()).then(|| serde_json::to_string(&all).ok()).flatten()
}

fn lease(id: &LeaseId) -> Lease {
    Lease {
        owner: id.owner().to_string(),
        dseq: id.dseq(),
        gseq: id.gseq(),
        oseq: id.oseq(),
        provider: id.provider().to_string(),
        bseq: 0,
    }
}

/// A moment as Go prints it, with the clock that does not go back.
fn go_time(moment: Moment) -> String {
    let date = moment.time.strftime("%Y-%m-%d %H:%M:%S%.f");
    let (seconds, nanos) = (moment.since_start.as_secs(), moment.since_start.subsec_nanos());
    format!("{date} +0000 UTC m=+{seconds}.{nanos:09}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn moments_read_as_in_go() {
        let moment = Moment {
            since_start: Duration::new(126, 47_024_206),
            time: "2026-11-15T19:44:49.098529983Z".parse().unwrap(),
        };
        let recorded = "2026-11-15 19:44:49.098529983 +0000 UTC m=+126.047024206";
        assert_eq!(go_time(moment), recorded);
    }
}
