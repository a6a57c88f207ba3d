//! How bytes reach a node and come back.
//!
//! ```text
//! Transport ── Grpc ──────────────► gRPC port, HTTP/2
//!           └─ Abci ── RpcClient ─► CometBFT port, JSON-RPC `abci_query`
//!                          └──────► the same port, WebSocket, for whoever follows blocks
//! ```
//!
//! Both carry the same protobuf messages and give the same bytes back; what they differ in is how a
//! refusal is written, and `status` makes one [`Failure`] of both. Nothing here retries: who asks
//! knows best whether an old answer is worth a second try.
//!
//! Must not know what a message means, or what a transaction is.

mod abci;
mod endpoint;
mod failure;
mod grpc;
mod http;
mod rpc;
mod status;

use bytes::Bytes;

pub use abci::Abci;
pub use endpoint::{Endpoint, EndpointError};
pub(crate) use failure::chain;
pub use failure::{Failure, Malformed, NoAnswer, Unavailable};
pub use grpc::Grpc;
pub use http::{Limits, SetupError};
pub(crate) use rpc::Socket;
pub use rpc::{RpcClient, RpcError, RpcRefusal};

/// What a node answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The response message, encoded.
    pub bytes: Bytes,
    /// Height of the state it was read from, where the node says so.
    pub height: Option<u64>,
}

/// Something that carries one request to a node and brings the reply.
pub trait Transport: Send + Sync {
    /// Calls the gRPC method `path` (`/package.Service/Method`) with an encoded request.
    fn unary(
        &self,
        path: &str,
        request: Vec<u8>,
    ) -> impl Future<Output = Result<Reply, NoAnswer>> + Send;
}

impl<T: Transport> Transport for &T {
    fn unary(
        &self,
        path: &str,
        request: Vec<u8>,
    ) -> impl Future<Output = Result<Reply, NoAnswer>> + Send {
        T::unary(self, path, request)
    }
}

/// The transport that an operator's configuration asks for: gRPC where an address is given,
/// `abci_query` otherwise.
#[derive(Clone, Debug)]
pub enum Connection {
    /// Over gRPC.
    Grpc(Grpc),
    /// Over CometBFT's JSON-RPC.
    Abci(Abci),
}

impl Connection {
    /// Prepares to ask `grpc` if given, else `rpc`. Connects when first used.
    pub fn new(
        rpc: &RpcClient,
        grpc: Option<&Endpoint>,
        limits: Limits,
    ) -> Result<Self, SetupError> {
        Ok(match grpc {
            Some(endpoint) => Self::Grpc(Grpc::new(endpoint, limits)?),
            None => Self::Abci(Abci::new(rpc.clone())),
        })
    }
}

impl Transport for Connection {
    async fn unary(&self, path: &str, request: Vec<u8>) -> Result<Reply, NoAnswer> {
        match self {
            Self::Grpc(grpc) => grpc.unary(path, request).await,
            Self::Abci(abci) => abci.unary(path, request).await,
        }
    }
}
