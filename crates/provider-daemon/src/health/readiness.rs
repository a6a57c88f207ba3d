//! Whether the provider can do its work.

use std::sync::Arc;

use akash_chain::follow::FollowStatus;
use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use provider_api::status::{Missing, Readiness};
use provider_engine::engine::{Published, Status};
use tokio::sync::watch;

use super::Probe;
use crate::metrics::Format;

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

#[cfg(test)]
mod tests {
    use super::*;

    fn follow() -> FollowStatus {
        FollowStatus { cursor: Some(100), head: Some(101), lag: 1, ..FollowStatus::default() }
    }

    fn engine() -> Status {
        Status { height: 100, ready: true, cluster_fresh: true, ..Status::default() }
    }

    fn missing(follow: &FollowStatus, engine: &Status) -> Vec<&'static str> {
        let judged = judge(Some(follow), Some(engine));
        assert_eq!(judged.ready, judged.missing.is_empty());
        judged.missing.iter().map(|missing| missing.what).collect()
    }

    #[test]
    fn ready_is_a_fresh_chain_a_fresh_cluster_and_an_engine_that_acts() {
        assert_eq!(missing(&follow(), &engine()), [""; 0]);
        let kept = Status { breaker_open: true, maintenance: true, ..engine() };
        // Both are what somebody wanted: traffic is as welcome as before.
        assert_eq!(missing(&follow(), &kept), [""; 0]);
        let nothing = judge(None, None);
        let names: Vec<_> = nothing.missing.iter().map(|missing| missing.what).collect();
        assert_eq!(names, ["chain", "cluster", "engine"]);
    }

    #[test]
    fn a_chain_that_is_stalled_unknown_or_far_ahead_is_not_fresh() {
        for stale in [
            FollowStatus { stalled: true, ..follow() },
            FollowStatus { cursor: None, ..follow() },
            FollowStatus { lag: 11, ..follow() },
        ] {
            assert_eq!(missing(&stale, &engine()), ["chain"]);
        }
        assert_eq!(missing(&FollowStatus { lag: 10, ..follow() }, &engine()), [""; 0]);
    }

    #[test]
    fn a_cluster_without_a_fresh_view_and_an_engine_that_reads_are_named() {
        let lost = Status { cluster_fresh: false, ..engine() };
        assert_eq!(missing(&follow(), &lost), ["cluster"]);
        let begins = Status { ready: false, ..engine() };
        assert_eq!(missing(&follow(), &begins), ["engine"]);
    }
}
