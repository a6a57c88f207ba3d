//! gRPC over HTTP/2, with messages left as the bytes they are.

use std::sync::{Arc, OnceLock};

use akash_net::Connector;
use bytes::{Buf, BufMut, Bytes};
use http::uri::PathAndQuery;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::metadata::{Ascii, MetadataMap, MetadataValue};
use tonic::transport::{Channel, channel};
use tonic::{Code, Status};

use super::failure::chain;
use super::{
    Endpoint, Failure, Limits, Malformed, NoAnswer, Reply, SetupError, Transport, Unavailable,
    status,
};

/// Metadata in which a node says what height it read.
const HEIGHT: &str = "x-cosmos-block-height";

/// The transport over a node's gRPC port.
#[derive(Clone, derive_more::Debug)]
#[debug("Grpc {{ endpoint: {:?}, limits: {:?}, .. }}", self.name, self.limits)]
pub struct Grpc {
    /// Shared by clones.
    connection: Arc<Connection>,
    authorization: Option<MetadataValue<Ascii>>,
    name: String,
    limits: Limits,
}

/// A channel that is made when first used: it needs a runtime, which need not be there before.
struct Connection {
    builder: channel::Endpoint,
    connector: Connector,
    channel: OnceLock<Channel>,
}

impl Grpc {
    /// Prepares to ask `endpoint`. Connects when first used, in the tokio runtime it is used in.
    pub fn new(endpoint: &Endpoint, limits: Limits) -> Result<Self, SetupError> {
        SetupError::check(endpoint)?;
        let name = endpoint.to_string();
        // The connector makes TLS where it is to be: to tonic it is all in the clear.
        let builder = channel::Endpoint::from_static("http://node")
            .origin(endpoint.uri().clone())
            // Without pings a connection that died silently would be used for ever.
            .http2_keep_alive_interval(std::time::Duration::from_secs(30))
            .keep_alive_timeout(limits.dial);
        let connector = endpoint.connector(limits.dial).http2();
        // Basic authentication is a word and base64: always ASCII, so always a value.
        let authorization = endpoint
            .authorization()
            .and_then(|value| MetadataValue::try_from(value.as_bytes()).ok());
        let connection = Arc::new(Connection { builder, connector, channel: OnceLock::new() });
        Ok(Self { connection, authorization, name, limits })
    }

    async fn call(&self, path: &str, request: Vec<u8>) -> Result<Reply, NoAnswer> {
        let limit = self.limits.answer_bytes;
        let Connection { builder, connector, channel } = &*self.connection;
        let connect = || builder.connect_with_connector_lazy(connector.clone());
        let channel = channel.get_or_init(connect).clone();
        let mut client = tonic::client::Grpc::new(channel).max_decoding_message_size(limit);
        client.ready().await.map_err(|error| self.cannot_connect(&error))?;
        let path = PathAndQuery::try_from(path)
            .map_err(|error| Failure::InvalidArgument { text: error.to_string() })?;
        let mut request = tonic::Request::new(Bytes::from(request));
        if let Some(value) = &self.authorization {
            request.metadata_mut().insert("authorization", value.clone());
        }
        let response = client.unary(request, path, Verbatim).await.map_err(|status| NoAnswer {
            failure: self.failure(&status),
            height: height(status.metadata()),
        })?;
        let height = height(response.metadata());
        Ok(Reply { bytes: response.into_inner(), height })
    }

    fn cannot_connect(&self, error: &tonic::transport::Error) -> Failure {
        Unavailable::Connect { endpoint: self.name.clone(), reason: chain(error) }.into()
    }

    /// Tells what the node said from what our own side of the connection noticed.
    fn failure(&self, status: &Status) -> Failure {
        let limit = self.limits.answer_bytes;
        if status.code() == Code::OutOfRange && status.message().contains("length too large") {
            return Malformed::TooLarge { limit }.into();
        }
        match std::error::Error::source(status) {
            None => status::from_grpc(status.code(), status.message()),
            Some(source) => {
                let (endpoint, reason) = (self.name.clone(), chain(source));
                match status.code() {
                    Code::Unavailable => Unavailable::Connect { endpoint, reason }.into(),
                    _ => Unavailable::Broken { endpoint, reason }.into(),
                }
            }
        }
    }
}

impl Transport for Grpc {
    async fn unary(&self, path: &str, request: Vec<u8>) -> Result<Reply, NoAnswer> {
        let after = self.limits.request;
        match tokio::time::timeout(after, self.call(path, request)).await {
            Ok(answer) => answer,
            Err(_) => Err(Unavailable::Timeout { endpoint: self.name.clone(), after }.into()),
        }
    }
}

fn height(metadata: &MetadataMap) -> Option<u64> {
    let text = metadata.get(HEIGHT)?.to_str().ok()?;
    text.parse().ok().filter(|&height| height > 0)
}

/// Carries messages without looking at them.
struct Verbatim;

impl Codec for Verbatim {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Verbatim {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        into.put(item);
        Ok(())
    }
}

impl Decoder for Verbatim {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transport_is_made_without_a_runtime_and_used_in_one() {
        // Nothing listens at port 1.
        let endpoint = Endpoint::grpc("http://127.0.0.1:1").unwrap();
        let grpc = Grpc::new(&endpoint, Limits::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let failure = runtime.block_on(grpc.unary("/a.B/C", Vec::new())).unwrap_err().failure;
        assert!(matches!(failure, Failure::Unavailable(Unavailable::Connect { .. })), "{failure}");
        assert!(grpc.connection.channel.get().is_some());
    }
}
