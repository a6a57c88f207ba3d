//! What one client can take: bytes, streams and time.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use hyper::body::{Body, Frame};
use provider_api::query::StreamParams;
use provider_gateway::rpc::Rpc;
use provider_gateway::tls::Limits;
use provider_gateway::{Budget, Settings};
use tokio::io::AsyncWriteExt;

use crate::common::{World, lease};
use crate::secured::Secured;
use crate::secured::support::{Client, read_answer};

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
