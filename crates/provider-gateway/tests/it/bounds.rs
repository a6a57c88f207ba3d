//! What one client can take: bytes, streams and time.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::Request;
use hyper::body::{Body, Frame};
use provider_api::jwt::{Access, Algorithm, Claims, issue};
use provider_api::query::StreamParams;
use provider_api::stream::{CloseCode, ServerFrame};
use provider_gateway::rpc::Rpc;
use provider_gateway::tls::Limits;
use provider_gateway::{Budget, Settings};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::common::ws::{command, open};
use crate::common::{OWNER, World, lease};
use crate::secured::support::{Client, get, pair, read_answer};
use crate::secured::{Secured, account, token};

/// A body that begins and never goes on.
struct Begun(Option<Bytes>);

impl Body for Begun {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.take().map_or(Poll::Pending, |bytes| Poll::Ready(Some(Ok(Frame::data(bytes)))))
    }
}

/// A call that announces so many bytes and sends one.
fn announcing(path: &str, length: u32) -> Request<Begun> {
    let mut body = vec![0];
    body.extend(length.to_be_bytes());
    body.push(1);
    Request::post(path)
        .header("content-type", "application/grpc")
        .body(Begun(Some(body.into())))
        .unwrap()
}

const STATUS: &str = "/akash.provider.v1.ProviderRPC/GetStatus";
const MANIFEST: &str = "/akash.provider.lease.v1.LeaseRPC/SendManifest";

fn code<B>(response: &http::Response<B>) -> &str {
    response.headers().get("akash-error-code").map_or("", |code| code.to_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn announced_messages_take_nothing_and_wait_for_a_while_only() {
    let strangers = Budget::new(100 << 10, 100 << 10);
    let settings = Settings {
        strangers: strangers.clone(),
        body_patience: Duration::from_millis(500),
        ..Settings::default()
    };
    let world = World::with(settings).await;
    let rpc = Rpc::new(world.gateway.clone()).unwrap();
    // Refused by the prefix alone; what only tenants may send, before anything is read.
    assert_eq!(code(&rpc.call(announcing(STATUS, 4 << 20)).await), "body-too-large");
    assert_eq!(code(&rpc.call(announcing(MANIFEST, 4 << 20)).await), "unauthorized");
    // Ten calls fit into the budget with what they really hold, others are refused at once.
    let calls = (0..40).map(|_| rpc.call(announcing(STATUS, 60 << 10)));
    let answers = futures_util::future::join_all(calls).await;
    let count = |wanted| answers.iter().filter(|answer| code(answer) == wanted).count();
    assert_eq!((count("body-too-slow"), count("busy")), (12, 28));
    drop(answers);
    assert_eq!(strangers.held(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_lease_and_one_owner_have_their_share_of_streams() {
    let settings = Settings { streams_per_lease: 1, streams_per_owner: 2, ..Settings::default() };
    let world = World::with(settings).await;
    for dseq in 9001..=9003 {
        world.run_case("01-basic", dseq).await;
    }
    let client = world.client("full");
    let follow = StreamParams { follow: true, ..StreamParams::default() };
    let _first = client.logs(lease(9001), &follow).await.unwrap();
    assert!(client.logs(lease(9001), &follow).await.is_err(), "the lease has its share");
    let _second = client.logs(lease(9002), &follow).await.unwrap();
    assert!(client.logs(lease(9003), &follow).await.is_err(), "the owner has its share");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_with_two_lengths_is_refused() {
    let gateway = Secured::start(Settings::default(), Limits::default()).await;
    for lengths in [
        "content-length: 5\r\ntransfer-encoding: chunked",
        "transfer-encoding: chunked\r\ncontent-length: 5",
    ] {
        let mut stream = Client::new().connect(gateway.rest).await.unwrap();
        let request = format!("GET /status HTTP/1.1\r\nhost: x\r\n{lengths}\r\n\r\n0\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        assert_eq!(read_answer(&mut stream).await.unwrap().0, 400, "{lengths}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_is_answered_while_strangers_hold_all_that_they_may() {
    let strangers = Budget::new(64 << 10, 64 << 10);
    let settings = Settings { strangers: strangers.clone(), ..Settings::default() };
    let gateway = Secured::start(settings, Limits::default()).await;
    gateway.world.run_case("01-basic", 9001).await;
    let mut stranger = Client::new().connect(gateway.rest).await.unwrap();
    let begun = "POST /validate HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n".to_owned();
    let begun = begun + &" ".repeat(64 << 10);
    stranger.write_all(begun.as_bytes()).await.unwrap();
    while strangers.held() < 64 << 10 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let bearer = token(&account("tenant1"), Access::Full);
    let ask = format!(
        "GET /lease/9001/1/1/status HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {bearer}\r\n\r\n"
    );
    let mut tenant = Client::new().connect(gateway.rest).await.unwrap();
    for _ in 0..3 {
        tenant.write_all(ask.as_bytes()).await.unwrap();
        assert_eq!(read_answer(&mut tenant).await.unwrap().0, 200);
    }
    // Who has no lease here is told to come back.
    let mut other = Client::new().connect(gateway.rest).await.unwrap();
    let ask = "POST /validate HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}";
    other.write_all(ask.as_bytes()).await.unwrap();
    assert_eq!(read_answer(&mut other).await.unwrap().0, 503);
    let hits = gateway.gateway.limit_hits();
    let hit = hits.iter().find(|(limit, _)| *limit == "stranger-bytes").unwrap();
    assert_eq!(hit.1, 1, "{hits:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn json_with_too_many_values_is_refused_while_it_arrives() {
    let gateway = Secured::start(Settings::default(), Limits::default()).await;
    gateway.world.run_case("01-basic", 9001).await;
    let bearer = token(&account("tenant1"), Access::Full);
    let mut tenant = Client::new().connect(gateway.rest).await.unwrap();
    // Two bytes for each value: read, it would take a hundred megabytes.
    let head = format!(
        "PUT /deployment/9001/manifest HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {bearer}\r\n\
         content-length: {}\r\n\r\n[",
        4 << 20
    );
    tenant.write_all(head.as_bytes()).await.unwrap();
    tenant.write_all("0,".repeat(64 << 10).as_bytes()).await.unwrap();
    let (status, text) = read_answer(&mut tenant).await.unwrap();
    assert_eq!((status, text.trim()), (413, "the body has more than 32768 values"));
}

/// Follows logs over TLS.
async fn follow(
    gateway: &Secured,
    client: &Client,
    token: Option<&str>,
) -> WebSocketStream<TlsStream<TcpStream>> {
    let uri = format!("wss://{}/lease/9001/1/1/logs?follow=true", gateway.rest);
    let mut request = uri.into_client_request().unwrap();
    if let Some(token) = token {
        let bearer = format!("Bearer {token}").parse().unwrap();
        request.headers_mut().insert("authorization", bearer);
    }
    let stream = client.connect(gateway.rest).await.unwrap();
    tokio_tungstenite::client_async(request, stream).await.unwrap().0
}

/// The code and reason that a stream ends with.
async fn end(socket: &mut WebSocketStream<TlsStream<TcpStream>>) -> (u16, String) {
    loop {
        match socket.next().await.expect("it ends with a word").unwrap() {
            Message::Close(Some(frame)) => return (frame.code.into(), frame.reason.to_string()),
            Message::Close(None) => panic!("no code"),
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shell_that_reads_nothing_is_sent_little_and_left() {
    let patience = Duration::from_secs(2);
    let settings = Settings { write_patience: patience, ..Settings::default() };
    let world = World::with(settings).await;
    world.run_case("01-basic", 9001).await;
    let path = "/lease/9001/1/1/shell?cmd0=cat&tty=0&service=web&stdin=1&podIndex=0";
    let mut socket = open(&world, path, "full").await.unwrap();
    let message = Bytes::from([&[104][..], &[b'x'; 100 << 10]].concat());
    let mut sent = 0;
    // Until nothing more is taken: what fits into queues and sockets of both directions.
    loop {
        let sending = socket.send(Message::Binary(message.clone()));
        match tokio::time::timeout(patience / 4, sending).await {
            Ok(Ok(())) => sent += message.len(),
            Ok(Err(_)) | Err(_) => break,
        }
        assert!(sent < 24 << 20, "{sent} bytes were taken for a client that reads nothing");
    }
    // Still nothing is read: it is cut off, and what is left on the way ends.
    tokio::time::sleep(patience * 3).await;
    let rest = async { while let Some(Ok(_)) = socket.next().await {} };
    tokio::time::timeout(Duration::from_secs(30), rest).await.expect("cut off");
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_end_when_they_are_old() {
    let lifetime = Duration::from_millis(700);
    let world = World::with(Settings { stream_lifetime: lifetime, ..Settings::default() }).await;
    world.run_case("01-basic", 9001).await;
    let client = world.client("full");
    let params = StreamParams { follow: true, ..StreamParams::default() };
    let begun = tokio::time::Instant::now();
    let mut logs = client.logs(lease(9001), &params).await.unwrap();
    let mut events = client.events(lease(9001), &params).await.unwrap();
    let mut shell = client.shell(lease(9001), &command(&["cat"], true)).await.unwrap();
    while logs.next().await.unwrap().is_some() {}
    assert!(begun.elapsed() >= lifetime);
    while events.next().await.unwrap().is_some() {}
    for end in [logs.end().unwrap(), events.end().unwrap()] {
        assert_eq!((end.code, end.reason.as_str()), (Some(CloseCode::Stopping), "stream-too-old"));
    }
    let told = shell.output.next().await.unwrap().unwrap();
    assert!(matches!(told, ServerFrame::Result(_)), "{told:?}");
    let end = shell.output.next().await.unwrap().unwrap_err();
    assert_eq!(end.code, Some(CloseCode::Stopping));
}

/// On one thread, so that the clock can be held: the certificate is looked at once a minute.
#[tokio::test]
async fn a_stream_ends_when_its_certificate_is_revoked() {
    let gateway = Secured::start(Settings::default(), Limits::default()).await;
    gateway.world.run_case("01-basic", 9001).await;
    let shown = pair(OWNER, 5, &[]);
    gateway.chain.publish(&shown);
    let client = Client::showing(&[&shown]);
    let mut socket = follow(&gateway, &client, None).await;
    assert!(matches!(socket.next().await, Some(Ok(Message::Text(_)))));
    tokio::time::pause();
    // For as long as it is published, the stream goes on.
    let begun = tokio::time::Instant::now();
    while begun.elapsed() < Duration::from_mins(5) {
        let next = socket.next().await.unwrap().unwrap();
        assert!(!matches!(next, Message::Close(_)), "{next:?}");
    }
    gateway.chain.revoke(&shown);
    let begun = tokio::time::Instant::now();
    assert_eq!(end(&mut socket).await, (4000, "certificate-revoked".to_owned()));
    assert!(begun.elapsed() <= Duration::from_mins(3), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_outlives_its_token() {
    let settings = Settings { ping: Duration::from_millis(200), ..Settings::default() };
    let gateway = Secured::start(settings, Limits::default()).await;
    gateway.world.run_case("01-basic", 9001).await;
    let key = account("tenant1");
    let now = std::time::SystemTime::now();
    let lifetime = Duration::from_secs(2);
    let claims = Claims::new(key.public_key().address(), Access::Full, now, lifetime);
    let token = issue(&claims, Algorithm::Es256k, &key).unwrap();
    let mut socket = follow(&gateway, &Client::new(), Some(&token)).await;
    // Refused from then on for everything that is new.
    let mut stream = Client::new().connect(gateway.rest).await.unwrap();
    let ask = format!(
        "GET /lease/9001/1/1/status HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    loop {
        stream.write_all(ask.as_bytes()).await.unwrap();
        match read_answer(&mut stream).await.unwrap().0 {
            200 => tokio::time::sleep(Duration::from_millis(100)).await,
            400 => break,
            other => panic!("{other}"),
        }
    }
    assert_eq!(get(&mut stream, "/status").await.unwrap().0, 200);
    // Everything that came meanwhile is read, and then more comes.
    let until = tokio::time::Instant::now() + lifetime;
    while tokio::time::Instant::now() < until {
        let next = socket.next().await.expect("the stream ended").unwrap();
        assert!(!matches!(next, Message::Close(_)), "{next:?}");
    }
}
