//! Requests over HTTP: JSON in a body, or a method as the path of a URL.

use std::collections::HashMap;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;

use crate::node::App;
use crate::server::context::Context;
use crate::server::{faucet, ws};

use super::args::Args;
use super::methods::{self, Calling, METHODS};
use super::wire::{self, NO_ID, RpcError};

/// Most bytes of a request.
const MAX_BODY: usize = 1_000_000;
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const HTML: HeaderValue = HeaderValue::from_static("text/html");
const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

type Answer = Response<Full<Bytes>>;

pub(crate) fn serve_on<A: App>(
    context: Arc<Context<A>>,
) -> impl Fn(Request<Incoming>, SocketAddr) -> Pin<Box<dyn Future<Output = Answer> + Send>>
+ Clone
+ Send
+ Sync
+ 'static {
    move |request, peer| {
        let context = Arc::clone(&context);
        Box::pin(async move {
            let from_elsewhere = request.headers().contains_key(header::ORIGIN);
            let mut answer = route(context, request, peer).await;
            let headers = answer.headers_mut();
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            headers.insert("x-server-time", since.unwrap_or_default().as_secs().into());
            if from_elsewhere {
                let anyone = HeaderValue::from_static("*");
                headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, anyone);
            }
            answer
        })
    }
}

async fn route<A: App>(
    context: Arc<Context<A>>,
    request: Request<Incoming>,
    peer: SocketAddr,
) -> Answer {
    if request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
    {
        return preflight();
    }
    let path = request.uri().path().to_owned();
    match path.as_str() {
        "/websocket" => ws::upgrade(context, request, peer),
        "/" | "//" => match read(request).await {
            Ok(body) => post(&context, &body).await,
            Err(answer) => answer,
        },
        "/faucet" | "/credit" => {
            let query = query_of(request.uri().query().unwrap_or_default());
            match read(request).await {
                Ok(body) => {
                    let (status, json) = faucet::give(&context, query, &body).await;
                    respond(status, JSON, json)
                }
                Err(answer) => answer,
            }
        }
        path => {
            let name = path.trim_start_matches('/').to_owned();
            let Some(method) = METHODS.iter().find(|method| method.name == name) else {
                return respond(StatusCode::NOT_FOUND, PLAIN, "404 page not found\n".to_owned());
            };
            if method.subscribes {
                return refuse(StatusCode::NOT_FOUND, RpcError::method_not_found());
            }
            let mut query = query_of(request.uri().query().unwrap_or_default());
            if request.method() == Method::POST {
                match read(request).await {
                    Ok(body) => {
                        let form = query_of(&String::from_utf8_lossy(&body));
                        form.into_iter().for_each(|(name, value)| {
                            query.entry(name).or_insert(value);
                        });
                    }
                    Err(answer) => return answer,
                }
            }
            get(&context, method, &query).await
        }
    }
}

async fn get<A: App>(
    context: &Context<A>,
    method: &methods::Spec,
    query: &HashMap<String, String>,
) -> Answer {
    let outcome = match Args::from_uri(method.args, query) {
        Ok(args) => methods::call(context, method, args).await,
        Err(why) => {
            let why = format!("error converting http params to arguments: {why}");
            Err(RpcError::invalid_params(why))
        }
    };
    match outcome {
        Ok(result) => {
            let answer = wire::Response::new(Some(NO_ID), Ok(result));
            respond(StatusCode::OK, JSON, answer.to_json())
        }
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, error),
    }
}

async fn post<A: App>(context: &Context<A>, body: &[u8]) -> Answer {
    if body.is_empty() {
        return respond(StatusCode::OK, HTML, list_of_methods());
    }
    let requests = match wire::read_requests(body) {
        Ok(requests) => requests,
        Err(why) => {
            let error = RpcError::parse(format!("error unmarshaling request: {why}"));
            let answer = wire::Response::error(None, error);
            return respond(StatusCode::INTERNAL_SERVER_ERROR, JSON, answer.to_json());
        }
    };
    let mut answers = Vec::with_capacity(requests.len());
    for request in requests.into_iter().flatten() {
        match methods::call_json(context, &request, Calling::Http).await {
            Ok(outcome) => answers.push(wire::Response::new(Some(request.id), outcome)),
            Err(methods::Panics(why)) => {
                return refuse(StatusCode::INTERNAL_SERVER_ERROR, RpcError::internal(why));
            }
        }
    }
    if answers.is_empty() {
        return respond(StatusCode::OK, JSON, String::new());
    }
    respond(StatusCode::OK, JSON, wire::answers_to_json(&answers))
}

/// The whole body, or the answer to one that is too large or was never finished.
async fn read(request: Request<Incoming>) -> Result<Bytes, Answer> {
    match Limited::new(request.into_body(), MAX_BODY).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) => {
            let why = if error.is::<LengthLimitError>() {
                "http: request body too large".to_owned()
            } else {
                error.to_string()
            };
            let error = RpcError::invalid_request(format!("error reading request body: {why}"));
            let answer = wire::Response::error(None, error);
            Err(respond(StatusCode::INTERNAL_SERVER_ERROR, JSON, answer.to_json()))
        }
    }
}

fn refuse(status: StatusCode, error: RpcError) -> Answer {
    respond(status, JSON, wire::Response::error(Some(NO_ID), error).to_json())
}

fn respond(status: StatusCode, kind: HeaderValue, body: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}

/// Any page may ask anything: there is nothing here to protect from it.
fn preflight() -> Answer {
    let mut answer = Response::new(Full::new(Bytes::new()));
    *answer.status_mut() = StatusCode::NO_CONTENT;
    let headers = answer.headers_mut();
    let methods = HeaderValue::from_static("HEAD, GET, POST");
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    let names = "Origin, Accept, Content-Type, X-Requested-With, X-Server-Time";
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(names));
    answer
}

/// Names and values of a query; the first value of a name counts.
pub(super) fn query_of(text: &str) -> HashMap<String, String> {
    let mut query = HashMap::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let decode = |text: &str| {
            percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
        };
        query.entry(decode(name)).or_insert_with(|| decode(value));
    }
    query
}

/// A page with the names of all methods, for a browser.
fn list_of_methods() -> String {
    let mut page = String::from("<html><body><br>Available endpoints:<br>");
    for method in METHODS {
        let args: Vec<String> = method.args.iter().map(|(name, _)| format!("{name}=_")).collect();
        let link = format!("/{}?{}", method.name, args.join("&"));
        let link = link.trim_end_matches('?');
        page.push_str(&format!("<a href=\"{link}\">{link}</a><br>"));
    }
    page.push_str("</body></html>");
    page
}
