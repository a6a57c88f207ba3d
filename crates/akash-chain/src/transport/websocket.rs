//! The WebSocket of a node, reached by the same rules as its JSON-RPC.

use http::header::{
    CONNECTION, HeaderMap, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::{RpcClient, Unavailable};

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
