//! Which chain, and which nodes tell of it.

use std::path::PathBuf;
use std::time::Duration;

use akash_chain::follow::FollowConfig;
use akash_chain::transport::{Endpoint, Limits};
use akash_chain::tx::lane::LaneConfig;
use akash_net::{Outbound, TlsFiles};

use super::reader::{Reader, Wrong, because};

#[derive(Clone, Debug)]
pub struct Chain {
    pub chain_id: String,
    /// RPC ports of nodes; at least one.
    pub nodes: Vec<Endpoint>,
    /// Certificates for nodes behind TLS.
    pub files: TlsFiles,
    /// gRPC port of the only node, where queries shall go there.
    pub grpc: Option<Endpoint>,
    /// How long one answer is waited for.
    pub query_timeout: Duration,
    /// How transactions are made.
    pub lane: LaneConfig,
}

impl Chain {
    /// Bounds of one call.
    pub fn limits(&self) -> Limits {
        Limits { request: self.query_timeout, ..Limits::default() }
    }

    pub fn follow(&self) -> FollowConfig {
        FollowConfig::new(self.chain_id.clone(), self.nodes.clone())
    }
}

/// Above this the engine asks again, and does not wait for the first answer any more.
const LONGEST_QUERY: Duration = Duration::from_secs(90);

/// Certificates for nodes behind TLS. Both halves of an identity belong together.
fn node_files(reader: &mut Reader<'_>) -> TlsFiles {
    let path = |name: &str| reader.some(name).map(PathBuf::from);
    let (ca, cert, key) = (path("node-ca"), path("node-cert"), path("node-key"));
    let identity = match (cert, key) {
        (Some(cert), Some(key)) => Some((cert, key)),
        (None, None) => None,
        (cert, _) => {
            let (here, half) = match cert {
                Some(_) => ("node-key", "a certificate is given without its key"),
                None => ("node-cert", "a key is given without its certificate"),
            };
            reader.wrong(here, Wrong::new(half, "give --node-cert and --node-key, or neither"));
            None
        }
    };
    TlsFiles { ca, identity }
}

pub(super) fn read(
    reader: &mut Reader<'_>,
    outbound: Option<&Outbound>,
    lane: Option<LaneConfig>,
) -> Option<Chain> {
    let files = node_files(reader);
    let outbound = outbound.map(|outbound| outbound.with_files(files.clone()));
    let through = |endpoint: Endpoint| match &outbound {
        Some(outbound) => endpoint.through(outbound.clone()),
        None => endpoint,
    };
    let chain_id = reader.some("chain-id");
    if chain_id.is_none() {
        let remedy = "name the chain with --chain-id, such as akashnet-2";
        reader.wrong("chain-id", Wrong::new("the chain is not named", remedy));
    }
    let url = because("give the RPC address of a node, such as http://localhost:26657");
    let nodes = reader.each("node", |text| Endpoint::rpc(text).map_err(|error| url(&error)));
    let nodes: Vec<Endpoint> = nodes.into_iter().map(through).collect();
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
    if query_timeout.is_some_and(|timeout| timeout > LONGEST_QUERY) {
        let text = "counts as 1m30s: what has no answer by then is asked again";
        reader.note("rpc-query-timeout", text);
    }
    let grpc = grpc.map(through);
    if grpc.is_some() && nodes.len() > 1 {
        let text = "not used by the provider with several nodes: which of them is well is told by \
                    their RPC ports, and questions go there";
        reader.note("grpc-addr", text);
    }
    let grpc = grpc.filter(|_| nodes.len() == 1);
    let is_tls = nodes.iter().chain(&grpc).any(Endpoint::is_tls);
    if files != TlsFiles::default() && !is_tls {
        let given = ["node-ca", "node-cert"].into_iter().find(|name| reader.some(name).is_some());
        let text = "not used: no node is reached by https";
        reader.note(given.unwrap_or("node-key"), text);
    }
    let query_timeout = query_timeout?.min(LONGEST_QUERY);
    Some(Chain { chain_id: chain_id?, nodes, files, grpc, query_timeout, lane: lane? })
}
