//! The REST API of a node: its gRPC queries as JSON, by the same answers and descriptors.
//!
//! A real node's grpc-gateway is the model: names as in the .proto files, numbers of 64 bits as
//! texts, everything shown that is not set, errors with their gRPC code and the HTTP status for it.

mod routes;

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;
use prost::Message;
use serde::Serialize;
use tonic::Code;

use crate::node::App;

use super::context::Context;
use super::grpc::{DISCOVERY, HEIGHT, height_of};
use super::services::{self, Found, Refusal, discovery};
use routes::{Verb, find};

/// Most bytes of a request.
const MAX_BODY: usize = 1_000_000;
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const ANYONE: HeaderValue = HeaderValue::from_static("*");
const ANSWERED_HEIGHT: &str = "grpc-metadata-x-cosmos-block-height";

type Answer = Response<Full<Bytes>>;

/// An error as a node writes it.
#[derive(Serialize)]
struct Problem {
    code: i32,
    message: String,
    details: [(); 0],
}

/// Why there is no answer: a gRPC status.
struct Failed {
    code: Code,
    text: String,
}

impl Failed {
    fn new(code: Code, text: impl Into<String>) -> Self {
        Self { code, text: text.into() }
    }

    fn unknown() -> Self {
        Self::new(Code::Unimplemented, "Not Implemented")
    }
}

pub(super) fn serve_on<A: App>(
    context: Arc<Context<A>>,
) -> impl Fn(Request<Incoming>, SocketAddr) -> Pin<Box<dyn Future<Output = Answer> + Send>>
+ Clone
+ Send
+ Sync
+ 'static {
    move |request, _| {
        let context = Arc::clone(&context);
        Box::pin(async move {
            let mut answer = if request.method() == Method::OPTIONS {
                preflight()
            } else {
                answer(&context, request).await.unwrap_or_else(|failed| refuse(&failed))
            };
            // Web pages ask from anywhere: there is nothing here to protect from them.
            answer.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANYONE);
            answer
        })
    }
}

async fn answer<A: App>(
    context: &Context<A>,
    request: Request<Incoming>,
) -> Result<Answer, Failed> {
    let verb = match *request.method() {
        Method::GET => Verb::Get,
        Method::POST => Verb::Post,
        _ => return Err(Failed::unknown()),
    };
    let (route, fields) = find(verb, request.uri().path()).ok_or_else(Failed::unknown)?;
    let method = route.method;
    if let Some(text) = context.faults.failure(method) {
        return Err(Failed::new(Code::Unavailable, text));
    }
    let height = asked_height(request.headers())?;
    let asked = match verb {
        Verb::Get => parameters(method, &fields, request.uri().query().unwrap_or_default())?,
        Verb::Post => body(method, request).await?,
    };
    let found = if method == DISCOVERY {
        let view = context.view();
        let value = discovery::message(&view.chain.chain_id).encode_to_vec();
        Found { value, height: view.history.latest() }
    } else {
        services::query(context, method, &asked, height).await.map_err(failed)?
    };
    let document = akash_json::answer(method, &found.value);
    let document = document.map_err(|why| Failed::new(Code::Internal, why.to_string()))?;
    let mut answer = respond(StatusCode::OK, document.to_json());
    answer.headers_mut().insert(ANSWERED_HEIGHT, found.height.into());
    Ok(answer)
}

fn failed(refusal: Refusal) -> Failed {
    Failed::new(refusal.grpc_code, refusal.grpc_text)
}

fn asked_height(headers: &HeaderMap) -> Result<i64, Failed> {
    let Some(value) = headers.get(HEIGHT) else { return Ok(0) };
    let text = value.to_str().unwrap_or_default();
    height_of(text).map_err(|status| Failed::new(status.code(), status.message()))
}

/// The request that path and query ask for.
fn parameters(method: &str, fields: &[(String, String)], query: &str) -> Result<Vec<u8>, Failed> {
    let invalid =
        |why: akash_json::ParameterError| Failed::new(Code::InvalidArgument, why.to_string());
    let request = akash_json::Parameters::of(method);
    let mut request = request.map_err(|why| Failed::new(Code::Internal, why.to_string()))?;
    for (name, value) in fields {
        request.path(name, value).map_err(invalid)?;
    }
    let decode =
        |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        request.query(&decode(name), &decode(value)).map_err(invalid)?;
    }
    Ok(request.encode())
}

async fn body(method: &str, request: Request<Incoming>) -> Result<Vec<u8>, Failed> {
    let invalid = |why: String| Failed::new(Code::InvalidArgument, why);
    let body = Limited::new(request.into_body(), MAX_BODY).collect().await;
    let body = body.map_err(|why| invalid(why.to_string()))?.to_bytes();
    let json = serde_json::from_slice(&body).map_err(|why| invalid(why.to_string()))?;
    akash_json::request(method, &json).map_err(|why| invalid(why.to_string()))
}

fn refuse(failed: &Failed) -> Answer {
    let problem = Problem { code: failed.code.into(), message: failed.text.clone(), details: [] };
    respond(http_status(failed.code), serde_json::to_string(&problem).unwrap_or_default())
}

fn respond(status: StatusCode, json: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(json)));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, JSON);
    answer
}

fn preflight() -> Answer {
    let mut answer = Response::new(Full::new(Bytes::new()));
    let headers = answer.headers_mut();
    let methods = HeaderValue::from_static("GET, HEAD, POST");
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, ANYONE);
    answer
}

/// The HTTP status of a gRPC code, as grpc-gateway has it.
const fn http_status(code: Code) -> StatusCode {
    match code {
        Code::Ok => StatusCode::OK,
        Code::Cancelled => StatusCode::REQUEST_TIMEOUT,
        Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange => {
            StatusCode::BAD_REQUEST
        }
        Code::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::AlreadyExists | Code::Aborted => StatusCode::CONFLICT,
        Code::PermissionDenied => StatusCode::FORBIDDEN,
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
        Code::Unimplemented => StatusCode::NOT_IMPLEMENTED,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::Unknown | Code::Internal | Code::DataLoss => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

#[cfg(test)]
mod tests {
    use akash_proto::akash::market::v1beta5::QueryOrdersRequest;
    use serde_json::Value;

    use super::*;

    fn recorded() -> impl Iterator<Item = (Value, String, String)> {
        let lines = include_str!("../../../../../fixtures/chain/grpc.jsonl").lines();
        lines.filter_map(|line| {
            let call: Value = serde_json::from_str(line).unwrap();
            let asked = call["rest_path"].as_str()?.to_owned();
            let (path, query) = asked.split_once('?').unwrap_or((&asked, ""));
            Some((call, path.to_owned(), query.to_owned()))
        })
    }

    #[test]
    fn recorded_urls_ask_what_was_asked_over_grpc() {
        let mut compared = 0;
        for (call, path, query) in recorded() {
            let Some((route, fields)) = find(Verb::Get, &path) else {
                assert_eq!(call["rest_status"], 501, "{path}");
                continue;
            };
            assert_eq!(call["method"], route.method, "{path}");
            let asked = parameters(route.method, &fields, &query).unwrap_or_else(|_| panic!());
            // Many were recorded with pages of a hundred, counted, over gRPC alone.
            let wanted = call["request_hex"].as_str().unwrap();
            let wanted = wanted.strip_suffix("120418642001").unwrap_or(wanted);
            let wanted = hex::decode(wanted).unwrap();
            if route.method.ends_with("/Orders") {
                // Some were recorded with other pages there.
                let read = |bytes: &[u8]| QueryOrdersRequest::decode(bytes).unwrap().filters;
                assert_eq!(read(&asked).unwrap_or_default(), read(&wanted).unwrap_or_default());
            } else {
                assert_eq!(hex::encode(asked), hex::encode(wanted), "{path}?{query}");
            }
            compared += 1;
        }
        assert!(compared >= 20, "{compared}");
    }

    #[test]
    fn recorded_errors_have_their_http_status() {
        let mut compared = 0;
        for (call, path, _) in recorded() {
            let Some(status) = call["rest_status"].as_u64() else { continue };
            let failed = match find(Verb::Get, &path) {
                None => Failed::unknown(),
                Some(_) => {
                    let code =
                        Code::from_i32(i32::try_from(call["code"].as_i64().unwrap()).unwrap());
                    Failed::new(code, call["message"].as_str().unwrap())
                }
            };
            let problem =
                Problem { code: failed.code.into(), message: failed.text.clone(), details: [] };
            assert_eq!(serde_json::to_value(problem).unwrap(), call["rest_json"], "{path}");
            assert_eq!(u64::from(refuse(&failed).status().as_u16()), status, "{path}");
            compared += 1;
        }
        assert!(compared >= 5, "{compared}");
    }
}
