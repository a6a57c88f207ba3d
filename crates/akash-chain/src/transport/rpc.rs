//! JSON-RPC to the CometBFT port of a node.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::StatusCode;
use http::header::{
    CONNECTION, HeaderMap, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::failure::words;
use super::http::HttpClient;
use super::{Endpoint, Failure, Limits, Malformed, SetupError, Unavailable};

/// A client for the JSON-RPC of one node at a time. Cheap to clone; clones share their connections
/// and, where there are several nodes, talk to the same one.
#[derive(Clone, Debug)]
pub struct RpcClient {
    first: Arc<HttpClient>,
    others: Arc<[Arc<HttpClient>]>,
    /// Which node is talked to: 0 is the first, then the others.
    chosen: Arc<AtomicUsize>,
}

/// Why a JSON-RPC call brought no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    /// Nobody answered.
    #[error("no answer")]
    Unavailable(#[from] Unavailable),
    /// The answer has no meaning.
    #[error("unreadable answer")]
    Malformed(#[from] Malformed),
    /// The node answered with an error.
    #[error(transparent)]
    Refused(#[from] RpcRefusal),
}

/// A JSON-RPC error, as the node wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, thiserror::Error)]
#[error("JSON-RPC error {code}: {message}: {data}")]
pub struct RpcRefusal {
    /// Number of JSON-RPC; nearly always -32603.
    pub code: i64,
    /// Its name; nearly always `Internal error`.
    #[serde(default)]
    pub message: String,
    /// What is wrong: this is the text to look at.
    #[serde(default, deserialize_with = "text_or_json")]
    pub data: String,
}

impl RpcClient {
    /// Prepares to call `endpoint`. Connects when first used.
    pub fn new(endpoint: Endpoint, limits: Limits) -> Result<Self, SetupError> {
        Self::any_of(endpoint, Vec::new(), limits)
    }

    /// Prepares to call one of several nodes: the first, until [`RpcClient::choose`] says another.
    pub fn any_of(
        first: Endpoint,
        others: Vec<Endpoint>,
        limits: Limits,
    ) -> Result<Self, SetupError> {
        let client = |endpoint| Ok(Arc::new(HttpClient::new(endpoint, limits)?));
        Ok(Self {
            first: client(first)?,
            others: others.into_iter().map(client).collect::<Result<_, SetupError>>()?,
            chosen: Arc::default(),
        })
    }

    /// Talks to the node at `index` from now on, counted from 0 for the first; all clones do. One
    /// that does not exist is the first.
    pub fn choose(&self, index: usize) {
        self.chosen.store(index, Ordering::Relaxed);
    }

    /// A client of the node that is talked to now, and only of it.
    pub fn pinned(&self) -> Self {
        let first = Arc::clone(self.http());
        Self { first, others: Arc::default(), chosen: Arc::default() }
    }

    /// The address of the node that is talked to.
    pub fn endpoint(&self) -> &Endpoint {
        self.http().endpoint()
    }

    /// Calls `method` with named `params`. As CometBFT wants them: 64-bit numbers as text, bytes
    /// as base64, and `abci_query` data as hex.
    pub async fn call<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &(impl Serialize + Sync),
    ) -> Result<T, RpcError> {
        Ok(self.call_weighed(method, params).await?.0)
    }

    /// As [`RpcClient::call`], with the number of bytes that the answer had.
    pub(crate) async fn call_weighed<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &(impl Serialize + Sync),
    ) -> Result<(T, usize), RpcError> {
        let request = Request { jsonrpc: "2.0", id: 1, method, params };
        let json = serde_json::to_vec(&request)
            .map_err(|error| Malformed::Json { what: "the request", reason: error.to_string() })?;
        let (status, body) = self.http().post(json).await?;
        Ok((read(&self.endpoint().to_string(), method, status, &body)?, body.len()))
    }

    pub(super) fn http(&self) -> &Arc<HttpClient> {
        let other = self.chosen.load(Ordering::Relaxed).checked_sub(1);
        other.and_then(|index| self.others.get(index)).unwrap_or(&self.first)
    }
}

impl RpcError {
    /// The node's own words, if it refused.
    pub fn refusal(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => Some(&refusal.data),
            Self::Unavailable(_) | Self::Malformed(_) => None,
        }
    }
}

impl From<RpcError> for Failure {
    /// What an error of the RPC layer means for a question: JSON-RPC errors say that the node could
    /// not answer, never that a thing does not exist.
    fn from(error: RpcError) -> Self {
        match error {
            RpcError::Unavailable(unavailable) => Self::Unavailable(unavailable),
            RpcError::Malformed(malformed) => Self::Malformed(malformed),
            RpcError::Refused(refusal) => {
                let text = if refusal.data.is_empty() { refusal.message } else { refusal.data };
                match refusal.code {
                    -32601 => Self::Unimplemented { text },
                    -32602 | -32600 | -32700 => Self::InvalidArgument { text },
                    _ => Self::Unavailable(Unavailable::Node { text }),
                }
            }
        }
    }
}

#[derive(Serialize)]
struct Request<'a, P> {
    jsonrpc: &'static str,
    id: u32,
    method: &'a str,
    params: &'a P,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<RpcRefusal>,
}

/// Makes sense of an HTTP answer.
///
/// CometBFT sends its errors with 200 or 500; any other status is not its own.
fn read<T: DeserializeOwned>(
    endpoint: &str,
    method: &'static str,
    status: StatusCode,
    body: &Bytes,
) -> Result<T, RpcError> {
    let (endpoint, code) = (endpoint.to_owned(), status.as_u16());
    if !matches!(code, 200 | 500) {
        return Err(Unavailable::HttpStatus { endpoint, status: code }.into());
    }
    let envelope: Envelope<'_> = serde_json::from_slice(body).map_err(|error| match code {
        200 => Unavailable::NotANode { endpoint: endpoint.clone(), reason: error.to_string() },
        _ => Unavailable::HttpStatus { endpoint: endpoint.clone(), status: code },
    })?;
    match (envelope.error, envelope.result) {
        (Some(refusal), _) => Err(RpcRefusal { data: words(&refusal.data), ..refusal }.into()),
        (None, Some(result)) => serde_json::from_str(result.get())
            .map_err(|error| Malformed::Json { what: method, reason: error.to_string() }.into()),
        (None, None) => {
            let reason = "neither a result nor an error".to_owned();
            Err(Unavailable::NotANode { endpoint, reason }.into())
        }
    }
}

/// `data` is text from CometBFT; JSON-RPC allows anything.
fn text_or_json<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    let text = match &value {
        serde_json::Value::Null => Cow::Borrowed(""),
        serde_json::Value::String(text) => Cow::Borrowed(text.as_str()),
        other => Cow::Owned(other.to_string()),
    };
    Ok(text.into_owned())
}

/// An open WebSocket.
pub(crate) type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// Most bytes of a message: a header is some two thousand.
const MAX_MESSAGE: usize = 4 << 20;

impl RpcClient {
    /// Opens the node's WebSocket, on a connection of its own.
    pub(crate) async fn websocket(&self) -> Result<Socket, Unavailable> {
        let not_a_node = |reason: &str| Unavailable::NotANode {
            endpoint: self.endpoint().to_string(),
            reason: reason.to_owned(),
        };
        let key = generate_key();
        let value = HeaderValue::from_str(&key)
            .map_err(|_| not_a_node("the key for its WebSocket cannot be sent"))?;
        let headers = HeaderMap::from_iter([
            (CONNECTION, HeaderValue::from_static("Upgrade")),
            (UPGRADE, HeaderValue::from_static("websocket")),
            (SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13")),
            (SEC_WEBSOCKET_KEY, value),
        ]);
        let (answer, upgraded) = self.http().upgrade("/websocket", headers).await?;
        let accepted = answer.get(SEC_WEBSOCKET_ACCEPT).map(HeaderValue::as_bytes);
        if accepted != Some(derive_accept_key(key.as_bytes()).as_bytes()) {
            return Err(not_a_node("it does not accept a WebSocket"));
        }
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE));
        let stream = TokioIo::new(upgraded);
        Ok(WebSocketStream::from_raw_socket(stream, Role::Client, Some(config)).await)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(status: u16, body: &str) -> Result<u32, RpcError> {
        let status = StatusCode::from_u16(status).unwrap();
        read("http://node", "answer", status, &Bytes::copy_from_slice(body.as_bytes()))
    }

    #[test]
    fn results_and_errors_are_read_with_either_status() {
        for status in [200, 500] {
            assert_eq!(read_text(status, r#"{"jsonrpc":"2.0","id":1,"result":42}"#), Ok(42));
            let body = r#"{"id":1,"error":{"code":-32603,"message":"Internal error","data":"x"}}"#;
            let refusal = RpcRefusal {
                code: -32603,
                message: "Internal error".to_owned(),
                data: "x".to_owned(),
            };
            assert_eq!(read_text(status, body), Err(RpcError::Refused(refusal)));
        }
        let error = read_text(200, r#"{"error":{"code":1,"data":{"a":[1]}}}"#).unwrap_err();
        assert_eq!(error.refusal(), Some(r#"{"a":[1]}"#));
        let error = read_text(200, r#"{"error":{"code":1,"data":null},"result":7}"#).unwrap_err();
        assert_eq!(error.refusal(), Some(""));
    }

    #[test]
    fn what_is_no_node_is_unavailable() {
        for body in ["", "<html>", "[]", "{}", r#"{"result":null}"#, r#"{"error":7}"#, "null"] {
            let error = read_text(200, body).unwrap_err();
            let not_a_node = matches!(error, RpcError::Unavailable(Unavailable::NotANode { .. }));
            assert!(not_a_node, "{body}: {error:?}");
        }
        for status in [204, 301, 401, 404, 429, 500, 502, 503, 504] {
            let error = read_text(status, "<html>").unwrap_err();
            let RpcError::Unavailable(unavailable @ Unavailable::HttpStatus { .. }) = error else {
                panic!("{status}: {error:?}");
            };
            let lasting = [204, 301, 401, 404].contains(&status);
            assert_eq!(unavailable.is_transient(), !lasting, "{status}");
        }
    }

    #[test]
    fn a_result_of_another_shape_is_malformed() {
        let error = read_text(200, r#"{"result":{"height":"1"}}"#).unwrap_err();
        let malformed =
            matches!(error, RpcError::Malformed(Malformed::Json { what: "answer", .. }));
        assert!(malformed, "{error:?}");
    }

    #[test]
    fn an_rpc_error_never_means_that_a_thing_is_missing() {
        for (code, data) in [(-32603, "tx (AB) not found"), (-32000, "not found"), (5, "NotFound")]
        {
            let refusal = RpcRefusal { code, message: String::new(), data: data.to_owned() };
            let failure = Failure::from(RpcError::Refused(refusal));
            let text = data.to_owned();
            assert_eq!(failure, Failure::Unavailable(Unavailable::Node { text }), "{code}");
        }
        let refusal = |code| {
            let (message, data) = ("Method not found".to_owned(), String::new());
            Failure::from(RpcError::Refused(RpcRefusal { code, message, data }))
        };
        let text = "Method not found".to_owned();
        assert_eq!(refusal(-32601), Failure::Unimplemented { text: text.clone() });
        assert_eq!(refusal(-32602), Failure::InvalidArgument { text });
    }
}
