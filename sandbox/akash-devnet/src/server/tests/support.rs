//! Starting a devnet and asking it.

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::node::Chain;
use crate::node::tests::fake::Fake;
use crate::server::{Config, Devnet};

pub(super) const START: i64 = 1_700_000_000_000_000_000;

pub(super) fn config() -> Config {
    Config { block_time: None, ..Config::new(Chain::new("local", 1, START)) }
}

/// A devnet that makes blocks on request.
pub(super) async fn start() -> Devnet {
    start_with(config()).await
}

pub(super) async fn start_with(config: Config) -> Devnet {
    Devnet::start(config, Fake::default(), |_| {}).await.unwrap()
}

pub(super) fn recorded(name: &str) -> Value {
    serde_json::from_str(&recorded_text(name)).unwrap()
}

pub(super) fn recorded_text(name: &str) -> String {
    let path = format!("{}/../../fixtures/chain/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

pub(super) async fn http(
    devnet: &Devnet,
    method: Method,
    path: &str,
    body: impl Into<Bytes>,
) -> (StatusCode, String) {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let uri = format!("http://{}{path}", devnet.rpc_address());
    let request = Request::builder().method(method).uri(uri).body(Full::new(body.into())).unwrap();
    let response = client.request(request).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

pub(super) async fn get(devnet: &Devnet, path: &str) -> (StatusCode, Value) {
    let (status, body) = http(devnet, Method::GET, path, "").await;
    (status, serde_json::from_str(&body).unwrap())
}

pub(super) async fn post(devnet: &Devnet, body: &str) -> (StatusCode, Value) {
    let (status, body) = http(devnet, Method::POST, "/", body.to_owned()).await;
    (status, serde_json::from_str(&body).unwrap())
}

pub(super) async fn call(devnet: &Devnet, method: &str, params: Value) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let (status, answer) = post(devnet, &request.to_string()).await;
    assert_eq!(status, StatusCode::OK);
    answer
}

/// The result of a method that works.
pub(super) async fn result(devnet: &Devnet, method: &str, params: Value) -> Value {
    let answer = call(devnet, method, params).await;
    answer.get("result").unwrap_or_else(|| panic!("{answer}")).clone()
}

pub(super) async fn error(devnet: &Devnet, method: &str, params: Value) -> String {
    let answer = call(devnet, method, params).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert_eq!(answer["error"]["message"], "Internal error");
    answer["error"]["data"].as_str().unwrap().to_owned()
}

pub(super) fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::prelude::BASE64_STANDARD.encode(bytes)
}

pub(super) struct WebSocket(WebSocketStream<TcpStream>);

impl WebSocket {
    pub(super) async fn connect(devnet: &Devnet) -> Self {
        let stream = TcpStream::connect(devnet.rpc_address()).await.unwrap();
        let uri = format!("ws://{}/websocket", devnet.rpc_address());
        let (socket, _) = tokio_tungstenite::client_async(uri, stream).await.unwrap();
        Self(socket)
    }

    pub(super) async fn send(&mut self, text: &str) {
        self.0.send(Message::text(text)).await.unwrap();
    }

    pub(super) async fn call(&mut self, id: i64, method: &str, params: Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&request.to_string()).await;
        self.next().await
    }

    pub(super) async fn subscribe(&mut self, id: i64, query: &str) {
        let answer = self.call(id, "subscribe", json!({"query": query})).await;
        assert_eq!(answer, json!({"jsonrpc": "2.0", "id": id, "result": {}}));
    }

    pub(super) async fn next(&mut self) -> Value {
        loop {
            match self.0.next().await.unwrap().unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    pub(super) async fn ends(mut self) -> bool {
        loop {
            match self.0.next().await {
                None | Some(Err(_) | Ok(Message::Close(_))) => return true,
                Some(Ok(_)) => {}
            }
        }
    }
}
