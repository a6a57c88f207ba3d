//! The node that a command talks to.

use std::time::Duration;

use akash_chain::query::{Connection, Failure, Malformed, NoAnswer, Node, Query, Reply, Transport};
use akash_chain::transport::{Endpoint, Limits, RpcClient};
use akash_net::{Outbound, Trust};
use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use prost::Message;
use serde::{Deserialize, Serialize};

use crate::output::Document;
use akash_json as proto_json;

/// Over how many blocks the time of one is averaged.
const BLOCKS: u64 = 100;

/// A node, and how its state is asked for.
#[derive(Debug)]
pub(crate) struct Network {
    query: Query<Route>,
    node: Node,
    trust: Trust,
}

impl Network {
    /// Prepares to ask `node`, or `grpc` for what can be asked there. Connects when first used.
    pub(crate) fn new(
        node: &str,
        grpc: Option<&str>,
        insecure: bool,
        outbound: &Outbound,
    ) -> anyhow::Result<Self> {
        let limits = Limits::default();
        let endpoint = Endpoint::rpc(node).context("--node")?.through(outbound.clone());
        let rpc = RpcClient::new(endpoint, limits)?;
        let grpc = match grpc.filter(|address| !address.is_empty()) {
            None => None,
            Some(address) => {
                let scheme = if insecure { "http" } else { "https" };
                let url = match address.contains("://") {
                    true => address.to_owned(),
                    false => format!("{scheme}://{address}"),
                };
                Some(Endpoint::grpc(&url).context("--grpc-addr")?.through(outbound.clone()))
            }
        };
        let route = Route::Newest(Connection::new(&rpc, grpc.as_ref(), limits)?);
        Ok(Self { query: Query::new(route), node: Node::new(rpc), trust: outbound.trust().clone() })
    }

    /// The same node with its state of a height that has passed. Not over gRPC.
    pub(crate) fn at_height(self, height: u64) -> Self {
        let route = Route::At { rpc: self.node.rpc().clone(), height: height.to_string() };
        Self { query: Query::new(route), ..self }
    }

    /// Public authorities that are trusted.
    pub(crate) const fn trust(&self) -> &Trust {
        &self.trust
    }

    pub(crate) const fn query(&self) -> &Query<Route> {
        &self.query
    }

    pub(crate) const fn node(&self) -> &Node {
        &self.node
    }

    /// How long a block takes, counted back from `height`, as far as the node can tell.
    pub(crate) async fn block_time(&self, height: u64) -> Option<Duration> {
        let before = height.checked_sub(BLOCKS).filter(|before| *before > 0).unwrap_or(1);
        let (newest, oldest) =
            (self.node.block(height).await.ok()?, self.node.block(before).await.ok()?);
        let count = u32::try_from(height.checked_sub(before)?).ok()?;
        newest.time.duration_since(oldest.time).ok()?.checked_div(count)
    }

    /// Calls a gRPC method and gives its answer as it is to be printed.
    pub(crate) async fn ask(&self, path: &str, request: &impl Message) -> anyhow::Result<Document> {
        let reply = self.query.transport().unary(path, request.encode_to_vec()).await?;
        Ok(proto_json::answer(path, &reply.bytes)?)
    }
}

/// The way to the state.
#[derive(Debug)]
pub(crate) enum Route {
    Newest(Connection),
    At { rpc: RpcClient, height: String },
}

impl Transport for Route {
    async fn unary(&self, path: &str, request: Vec<u8>) -> Result<Reply, NoAnswer> {
        match self {
            Self::Newest(connection) => connection.unary(path, request).await,
            Self::At { rpc, height } => {
                let params = Params { path, data: hex::encode(request), height, prove: false };
                let answer: Answer = rpc.call("abci_query", &params).await?;
                answer.response.into_reply()
            }
        }
    }
}

#[derive(Serialize)]
struct Params<'a> {
    path: &'a str,
    data: String,
    height: &'a str,
    prove: bool,
}

#[derive(Deserialize)]
struct Answer {
    response: Response,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Response {
    code: u32,
    codespace: String,
    log: String,
    value: Option<String>,
    height: String,
}

impl Response {
    fn into_reply(self) -> Result<Reply, NoAnswer> {
        let Self { code, codespace, log: text, value, height } = self;
        let height = height.parse().ok();
        let refused = |failure| Err(NoAnswer { failure, height });
        match (codespace.as_str(), code) {
            (_, 0) => {}
            ("sdk", 22) => return refused(Failure::NotFound { text }),
            ("sdk", 18) => return refused(Failure::InvalidArgument { text }),
            _ => return refused(Failure::Rejected { codespace, code, text }),
        }
        let bytes = STANDARD.decode(value.unwrap_or_default()).map_err(|error| {
            Malformed::Json { what: "abci_query value", reason: error.to_string() }
        })?;
        Ok(Reply { bytes: bytes.into(), height })
    }
}
