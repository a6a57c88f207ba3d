//! Which chain, and which nodes tell of it.

use std::time::Duration;

use akash_chain::follow::FollowConfig;
use akash_chain::transport::{Endpoint, Limits};
use akash_chain::tx::lane::LaneConfig;

use super::error::Wrong;
use super::reader::{Reader, because};

/// The chain, and how it is talked to.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Its id.
    pub chain_id: String,
    /// RPC ports of nodes; at least one.
    pub nodes: Vec<Endpoint>,
    /// gRPC port of a node, where queries shall go there.
    pub grpc: Option<Endpoint>,
    /// How long one answer is waited for.
    pub query_timeout: Duration,
    /// How transactions are made.
    pub lane: LaneConfig,
}

impl Chain {
    /// Bounds of one call.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits { request: self.query_timeout, ..Limits::default() }
    }

    /// How blocks are followed.
    #[must_use]
    pub fn follow(&self) -> FollowConfig {
        FollowConfig::new(self.chain_id.clone(), self.nodes.clone())
    }
}

pub(super) fn read(reader: &mut Reader<'_>, lane: Option<LaneConfig>) -> Option<Chain> {
    let chain_id = reader.some("chain-id");
    if chain_id.is_none() {
        let remedy = "name the chain with --chain-id, such as akashnet-2";
        reader.wrong("chain-id", Wrong::new("the chain is not named", remedy));
    }
    let url = because("give the RPC address of a node, such as http://localhost:26657");
    let nodes = reader.each("node", |text| Endpoint::rpc(text).map_err(|error| url(&error)));
    if reader.list("node").is_empty() {
        let remedy = "give the RPC address of at least one";
        reader.wrong("node", Wrong::new("no node is named", remedy));
    }
    let scheme = if reader.switch("grpc-insecure") { "http" } else { "https" };
    let grpc = reader.optional("grpc-addr", |text| {
        let full = match text.contains("://") {
            true => text.to_owned(),
            false => format!("{scheme}://{text}"),
        };
        Endpoint::grpc(&full).map_err(|e| because("give host and port, such as host:9090")(&e))
    });
    let query_timeout = reader.span("rpc-query-timeout").filter(|span| {
        let positive = !span.is_zero();
        if !positive {
            let wrong = Wrong::new("no answer would be waited for", "give more than 0");
            reader.wrong("rpc-query-timeout", wrong);
        }
        positive
    });
    Some(Chain { chain_id: chain_id?, nodes, grpc, query_timeout: query_timeout?, lane: lane? })
}
