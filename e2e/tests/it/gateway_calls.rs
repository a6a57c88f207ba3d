//! Calls of a provider's gateway by a client that shows nothing of itself.

use std::net::{Ipv4Addr, SocketAddr};

use akash_proto::akash::provider::v1::{BidScreeningRequest, BidScreeningResponse, Status};
use akash_types::GroupSpec;
use bytes::Bytes;
use e2e::attack::{Client, ask, request};
use e2e::network::Network;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// A call that gRPC refused: the number of its status, its text and the code of the error.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    pub(crate) text: String,
    pub(crate) code: String,
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn addresses(network: &Network) -> [SocketAddr; 2] {
    let (rest, grpc) = network.gateway().unwrap().unwrap();
    [rest, grpc].map(|address| address.parse().unwrap())
}

/// Status and body of the answer to `POST path`.
pub(crate) fn post(network: &Network, path: &str, body: &Value) -> (u16, String) {
    let [rest, _] = addresses(network);
    let body = body.to_string();
    let (status, answer) = runtime().block_on(async {
        let from = Ipv4Addr::LOCALHOST.into();
        let mut stream = Client::new().unwrap().connect(rest, from).await.unwrap();
        ask(&mut stream, &request("POST", path, None, body.as_bytes())).await.unwrap()
    });
    (status, String::from_utf8(answer).unwrap())
}

/// One call of gRPC, with one message each way.
pub(crate) fn grpc<T: Message + Default>(
    network: &Network,
    method: &str,
    message: &impl Message,
) -> Result<T, Refused> {
    let [_, grpc] = addresses(network);
    let message = message.encode_to_vec();
    let length = u32::try_from(message.len()).unwrap();
    let framed = [&[0], &length.to_be_bytes()[..], &message].concat();
    let call = Request::post(format!("https://x/akash.provider.v1.ProviderRPC/{method}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(Full::new(Bytes::from(framed)))
        .unwrap();
    runtime().block_on(async {
        let from = Ipv4Addr::LOCALHOST.into();
        let stream = Client::http2().unwrap().connect(grpc, from).await.unwrap();
        let (mut sender, connection) =
            http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        let driver = tokio::spawn(connection);
        let (head, body) = sender.send_request(call).await.unwrap().into_parts();
        let body = body.collect().await.unwrap();
        // A refusal without a message has everything in its head.
        let ends = body.trailers().cloned().unwrap_or(head.headers);
        let said = |name: &str| ends.get(name).map_or("", |it| it.to_str().unwrap()).to_owned();
        let status: u16 = said("grpc-status").parse().unwrap();
        driver.abort();
        match status {
            0 => Ok(T::decode(&body.to_bytes()[5..]).unwrap()),
            _ => {
                Err(Refused { status, text: said("grpc-message"), code: said("akash-error-code") })
            }
        }
    })
}

/// What `ProviderRPC.GetStatus` says.
pub(crate) fn grpc_status(network: &Network) -> Result<Status, Refused> {
    grpc(network, "GetStatus", &())
}

/// The answers of `/validate` and `BidScreening` to the same question: reasons against a bid, or
/// none, and the price.
pub(crate) fn screened(network: &Network, sdl: &str) -> (Vec<String>, Option<String>) {
    let (status, text) = validate(network, sdl);
    assert_eq!(status, 200, "{text}");
    let answer: Value = serde_json::from_str(&text).unwrap();
    let texts = |list: &Value| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let reasons = texts(&answer["reasons"]);
    assert_eq!(answer["passed"], reasons.is_empty(), "{text}");
    let price = answer["price"]["amount"].as_str().map(str::to_owned);
    let other = bid_screening(network, sdl).unwrap();
    assert_eq!((&other.reasons, other.passed), (&reasons, reasons.is_empty()));
    assert_eq!(other.price.is_some(), price.is_some(), "{text}");
    (reasons, price)
}

/// Status and body of the answer of `/validate`.
pub(crate) fn validate(network: &Network, sdl: &str) -> (u16, String) {
    let groups = network.json(&["sdl", "groups", sdl]).unwrap();
    post(network, "/validate", &json!({"group_spec": groups[0]}))
}

/// The answer of `ProviderRPC.BidScreening`.
pub(crate) fn bid_screening(network: &Network, sdl: &str) -> Result<BidScreeningResponse, Refused> {
    bid_screening_for(network, sdl, &[])
}

/// The same for a manifest that lists these hostnames.
pub(crate) fn bid_screening_for(
    network: &Network,
    sdl: &str,
    hostnames: &[&str],
) -> Result<BidScreeningResponse, Refused> {
    let text = std::fs::read_to_string(sdl).unwrap();
    let group: GroupSpec = akash_sdl::Sdl::read(&text).unwrap().groups()[0].clone();
    let hostnames = hostnames.iter().map(|name| (*name).to_owned()).collect();
    let question = BidScreeningRequest { group_spec: Some(group.into()), hostnames };
    grpc(network, "BidScreening", &question)
}
