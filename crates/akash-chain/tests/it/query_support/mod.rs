//! A node in this process: answers gRPC and JSON-RPC on one port, as a test tells it to.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use akash_chain::transport::{Connection, Endpoint, Limits, RpcClient};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use serde_json::{Value as Json, json};
use tokio::net::TcpListener;

pub(crate) fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/chain").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn fixture_json(name: &str) -> Json {
    serde_json::from_str(&fixture(name)).unwrap()
}

/// The recorded calls, by line.
pub(crate) fn recordings() -> Vec<Json> {
    fixture("grpc.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn recording(name: &str) -> Json {
    recordings().into_iter().find(|call| call["name"] == name).expect(name)
}

pub(crate) fn from_base64(text: &Json) -> Vec<u8> {
    STANDARD.decode(text.as_str().unwrap_or_default()).unwrap()
}

pub(crate) fn from_hex(text: &Json) -> Vec<u8> {
    hex::decode(text.as_str().unwrap()).unwrap()
}

#[derive(Clone, Debug)]
pub(crate) enum Call {
    Grpc { path: String, request: Vec<u8>, authorization: Option<String> },
    Rpc { method: String, params: Json, authorization: Option<String>, path: String },
}

impl Call {
    /// Path and request of a query, by whichever way it came.
    pub(crate) fn query(&self) -> (String, Vec<u8>) {
        match self {
            Self::Grpc { path, request, .. } => (path.clone(), request.clone()),
            Self::Rpc { method, params, .. } => {
                assert_eq!(method, "abci_query");
                assert_eq!(params["height"], "0");
                assert_eq!(params["prove"], false);
                (params["path"].as_str().unwrap().to_owned(), from_hex(&params["data"]))
            }
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Say {
    Message { bytes: Vec<u8>, height: Option<u64> },
    GrpcStatus { code: u32, message: String },
    Json(Json),
    Http { status: u16, body: Vec<u8> },
    Nothing,
}

impl Say {
    /// A response to a query, for whichever way it was asked.
    pub(crate) fn answer(call: &Call, bytes: Vec<u8>, height: u64) -> Self {
        match call {
            Call::Grpc { .. } => Self::Message { bytes, height: Some(height) },
            Call::Rpc { .. } => {
                let value = STANDARD.encode(bytes);
                let response = json!({"code": 0, "value": value, "height": height.to_string()});
                Self::Json(json!({"jsonrpc": "2.0", "id": 1, "result": {"response": response}}))
            }
        }
    }

    pub(crate) fn recorded(call: &Call, recording: &Json) -> Self {
        match call {
            Call::Rpc { .. } => Self::Json(recording["abci_query"].clone()),
            Call::Grpc { .. } if recording["code"] == 0 => Self::Message {
                bytes: from_base64(&recording["response_b64"]),
                height: recording["initial_metadata"]["x-cosmos-block-height"]
                    .as_str()
                    .map(|height| height.parse().unwrap()),
            },
            Call::Grpc { .. } => Self::GrpcStatus {
                code: u32::try_from(recording["code"].as_u64().unwrap()).unwrap(),
                message: recording["message"].as_str().unwrap().to_owned(),
            },
        }
    }
}

type Handler = dyn Fn(&Call) -> Say + Send + Sync;

/// The node, and everything it was asked.
pub(crate) struct FakeNode {
    pub(crate) address: SocketAddr,
    pub(crate) calls: Arc<Mutex<Vec<Call>>>,
}

impl FakeNode {
    pub(crate) async fn start(handler: impl Fn(&Call) -> Say + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let calls = Arc::new(Mutex::new(Vec::new()));
        let (handler, log): (Arc<Handler>, _) = (Arc::new(handler), calls.clone());
        tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                let (handler, log) = (handler.clone(), log.clone());
                tokio::spawn(async move {
                    let service = service_fn(move |request| {
                        let (handler, log) = (handler.clone(), log.clone());
                        async move { Ok::<_, Infallible>(serve(request, &*handler, &log).await) }
                    });
                    let server = auto::Builder::new(TokioExecutor::new());
                    // Clients end connections as they like.
                    let _ = server.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { address, calls }
    }

    pub(crate) fn rpc(&self) -> RpcClient {
        self.rpc_with(Limits::default())
    }

    pub(crate) fn rpc_with(&self, limits: Limits) -> RpcClient {
        let endpoint = Endpoint::rpc(&format!("tcp://{}", self.address)).unwrap();
        RpcClient::new(endpoint, limits).unwrap()
    }

    pub(crate) fn both(&self) -> [Connection; 2] {
        self.both_with(Limits::default())
    }

    pub(crate) fn both_with(&self, limits: Limits) -> [Connection; 2] {
        let rpc = self.rpc_with(limits);
        let grpc = Endpoint::grpc(&format!("http://{}", self.address)).unwrap();
        [
            Connection::new(&rpc, Some(&grpc), limits).unwrap(),
            Connection::new(&rpc, None, limits).unwrap(),
        ]
    }

    pub(crate) fn asked(&self) -> Vec<Call> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }
}

async fn serve(
    request: Request<Incoming>,
    handler: &Handler,
    log: &Mutex<Vec<Call>>,
) -> Response<BoxBody<Bytes, Infallible>> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let header = |name| parts.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    let authorization = header("authorization");
    let path = parts.uri.path().to_owned();
    let grpc = header("content-type").is_some_and(|kind| kind.starts_with("application/grpc"));
    let call = if grpc {
        assert_eq!(body[0], 0, "not compressed");
        Call::Grpc { path, request: body[5..].to_vec(), authorization }
    } else {
        let request: Json = serde_json::from_slice(&body).unwrap();
        assert_eq!((&request["jsonrpc"], parts.method.as_str()), (&json!("2.0"), "POST"));
        let method = request["method"].as_str().unwrap().to_owned();
        Call::Rpc { method, params: request["params"].clone(), authorization, path }
    };
    let say = handler(&call);
    log.lock().unwrap().push(call);
    match say {
        Say::Message { bytes, height } => message(&bytes, height),
        Say::GrpcStatus { code, message } => {
            let mut response = Response::new(Full::new(Bytes::new()).boxed());
            grpc_headers(response.headers_mut(), None);
            status_headers(response.headers_mut(), code, &message);
            response
        }
        Say::Json(json) => plain(200, json.to_string().into_bytes()),
        Say::Http { status, body } => plain(status, body),
        Say::Nothing => {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            plain(500, vec![])
        }
    }
}

fn plain(status: u16, body: Vec<u8>) -> Response<BoxBody<Bytes, Infallible>> {
    let mut response = Response::new(Full::new(Bytes::from(body)).boxed());
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response
}

fn message(bytes: &[u8], height: Option<u64>) -> Response<BoxBody<Bytes, Infallible>> {
    let mut frame = BytesMut::new();
    frame.put_u8(0);
    frame.put_u32(u32::try_from(bytes.len()).unwrap());
    frame.put_slice(bytes);
    let trailers = async {
        let mut trailers = HeaderMap::new();
        status_headers(&mut trailers, 0, "");
        Some(Ok(trailers))
    };
    let body = Full::new(frame.freeze()).with_trailers(trailers).boxed();
    let mut response = Response::new(body);
    grpc_headers(response.headers_mut(), height);
    response
}

fn grpc_headers(headers: &mut HeaderMap, height: Option<u64>) {
    headers.insert("content-type", HeaderValue::from_static("application/grpc"));
    if let Some(height) = height {
        headers.insert("x-cosmos-block-height", HeaderValue::from(height));
    }
}

fn status_headers(headers: &mut HeaderMap, code: u32, message: &str) {
    headers.insert("grpc-status", HeaderValue::from(code));
    let message = percent_encoding::utf8_percent_encode(message, percent_encoding::CONTROLS);
    headers.insert("grpc-message", HeaderValue::from_str(&message.to_string()).unwrap());
}
