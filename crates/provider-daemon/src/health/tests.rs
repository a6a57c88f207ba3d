use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::*;
use crate::metrics::{Metrics, Snapshot};

#[derive(Clone, Default)]
struct Fake {
    ready: Arc<AtomicBool>,
}

impl Probe for Fake {
    fn metrics(&self, format: Format) -> String {
        Metrics::new().render(&Snapshot::default(), format)
    }

    fn readiness(&self) -> Readiness {
        let why = "no node \"can\" be used".to_owned();
        match self.ready.load(Ordering::SeqCst) {
            true => Readiness::without(Vec::new()),
            false => Readiness::without(vec![Missing { what: "chain", why }]),
        }
    }
}

struct Running {
    address: SocketAddr,
    probe: Fake,
    task: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn start(limits: Limits) -> Running {
    let server = HealthServer::bind((Ipv4Addr::LOCALHOST, 0).into(), limits).await.unwrap();
    let (address, probe) = (server.local_address().unwrap(), Fake::default());
    let served = probe.clone();
    let task = tokio::spawn(async move {
        server.run(served).await;
    });
    Running { address, probe, task }
}

impl Running {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends bytes and reads until the server closes; errors count as an end.
    async fn send(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        let _ = stream.write_all(bytes).await;
        read(&mut stream).await
    }

    async fn get(&self, path: &str, headers: &str) -> (u16, String, String) {
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\n{headers}\r\n");
        let response = self.send(request.as_bytes()).await;
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_ascii_lowercase(), body.to_owned())
    }
}

async fn read(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut piece).await {
        bytes.extend_from_slice(&piece[..count]);
    }
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn metrics_come_in_the_text_that_is_asked_for() {
    let running = start(Limits::default()).await;
    let (status, head, body) = running.get("/metrics", "").await;
    assert_eq!(status, 200);
    let plain = "content-type: text/plain; version=0.0.4; charset=utf-8; escaping=underscores";
    assert!(head.contains(plain), "{head}");
    assert!(body.contains("# TYPE provider_bid_pricing_duration histogram\n"), "{body}");
    // What Prometheus sends.
    let accept = "accept: application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2\r\n";
    let (_, head, body) = running.get("/metrics", accept).await;
    assert!(head.contains("content-type: application/openmetrics-text; version=1.0.0"), "{head}");
    assert!(body.ends_with("# EOF\n"));
}

#[tokio::test]
async fn alive_is_not_ready_and_ready_says_what_is_missing() {
    let running = start(Limits::default()).await;
    assert_eq!(running.get("/healthz", "").await.0, 200);
    let (status, head, body) = running.get("/readyz", "").await;
    assert_eq!(status, 503);
    assert!(head.contains("content-type: application/json"), "{head}");
    let json: serde_json::Value = serde_json::from_str(&body).unwrap();
    let missing = serde_json::json!([{ "what": "chain", "why": "no node \"can\" be used" }]);
    assert_eq!(json, serde_json::json!({ "ready": false, "missing": missing }));
    running.probe.ready.store(true, Ordering::SeqCst);
    let (status, _, body) = running.get("/readyz", "").await;
    assert_eq!((status, body.as_str()), (200, "{\"ready\":true,\"missing\":[]}\n"));
}

#[tokio::test]
async fn other_paths_and_methods_are_refused() {
    let running = start(Limits::default()).await;
    for path in ["/", "/metrics/", "/healthz2", "/../metrics", "/status"] {
        assert_eq!(running.get(path, "").await.0, 404, "{path}");
    }
    assert_eq!(running.get("/healthz?verbose", "").await.0, 200);
    let post = b"POST /metrics HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nhi";
    let refused = running.send(post).await;
    assert!(refused.starts_with("HTTP/1.1 405") && refused.contains("allow: GET, HEAD"));
    let head = running.send(b"HEAD /metrics HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"), "{head}");
}

#[tokio::test]
async fn nonsense_and_endless_heads_are_cut_off() {
    let running = start(Limits::default()).await;
    let nonsense = running.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n").await;
    assert!(nonsense.is_empty() || nonsense.starts_with("HTTP/1.1 400"), "{nonsense}");
    let mut endless = b"GET / HTTP/1.1\r\nx: ".to_vec();
    endless.resize(1 << 20, b'x');
    let refused = running.send(&endless).await;
    assert!(refused.is_empty() || refused.starts_with("HTTP/1.1 431"), "{refused}");
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(100));
    let refused = running.send(many.as_bytes()).await;
    assert!(refused.starts_with("HTTP/1.1 431"), "{refused}");
    assert_eq!(running.get("/healthz", "").await.0, 200);
}

#[tokio::test]
async fn whoever_dawdles_is_cut_off() {
    let limits = Limits { time: Duration::from_millis(300), ..Limits::default() };
    let running = start(limits).await;
    let begun = Instant::now();
    let mut silent = running.connect().await;
    let mut slow = running.connect().await;
    slow.write_all(b"GET /metrics HTT").await.unwrap();
    let (silent, slow) = tokio::join!(read(&mut silent), read(&mut slow));
    assert!(!silent.contains("200") && !slow.contains("200"), "{silent}{slow}");
    let took = begun.elapsed();
    assert!((Duration::from_millis(250)..Duration::from_secs(5)).contains(&took), "{took:?}");
}

#[tokio::test]
async fn too_many_connections_are_closed_and_places_come_back() {
    let limits = Limits { connections: 2, time: Duration::from_secs(60), ..Limits::default() };
    let running = start(limits).await;
    // Connections are accepted in the order in which they came.
    let held = [running.connect().await, running.connect().await];
    let ask = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";
    assert_eq!(running.send(ask).await, "");
    drop(held);
    for _ in 0..1_000 {
        if running.send(ask).await.starts_with("HTTP/1.1 200") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no place came back");
}

#[tokio::test]
async fn a_connection_serves_one_request() {
    let running = start(Limits::default()).await;
    let twice = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n".repeat(2);
    let answers = running.send(&twice).await;
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 1, "{answers}");
}

#[tokio::test]
async fn a_taken_port_is_an_error() {
    let running = start(Limits::default()).await;
    assert!(HealthServer::bind(running.address, Limits::default()).await.is_err());
}

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
