//! One CometBFT node: what it is, its blocks, its transactions.
//!
//! Everything here is JSON-RPC on the CometBFT port, whatever transport state queries use.

mod block;
mod header;
mod status;

pub use block::{Block, BlockResults, Event, TxFound, TxHash, TxHashError, TxResult};
pub use header::{BlockHash, BlockHeader};
pub use status::NodeStatus;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Failure, QueryError};
use crate::transport::{RpcClient, RpcError};

/// Asks one node about itself.
#[derive(Clone, Debug)]
pub struct Node {
    rpc: RpcClient,
}

#[derive(Serialize)]
struct Nothing {}

#[derive(Serialize)]
struct AtHeight {
    height: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Between {
    min_height: String,
    max_height: String,
}

#[derive(Serialize)]
struct ByHash {
    hash: String,
    prove: bool,
}

impl Node {
    /// Asks through `rpc`.
    pub const fn new(rpc: RpcClient) -> Self {
        Self { rpc }
    }

    /// The JSON-RPC client below.
    pub const fn rpc(&self) -> &RpcClient {
        &self.rpc
    }

    /// Which chain it is on, how far it is, and whether it is still catching up.
    pub async fn status(&self) -> Result<NodeStatus, QueryError> {
        self.get("status", &Nothing {}, || "the node's status".to_owned()).await
    }

    /// As [`Node::status`], with the node's own words where it refuses.
    pub(crate) async fn rpc_status(&self) -> Result<NodeStatus, RpcError> {
        self.rpc.call("status", &Nothing {}).await
    }

    /// What the transactions of a block did.
    ///
    /// The newest block that [`Node::status`] reports may not be there yet: that error is
    /// transient.
    pub async fn block_results(&self, height: u64) -> Result<BlockResults, QueryError> {
        let asked = || format!("results of block {height}");
        self.get("block_results", &AtHeight { height: height.to_string() }, asked).await
    }

    /// A block.
    pub async fn block(&self, height: u64) -> Result<Block, QueryError> {
        let asked = || format!("block {height}");
        self.get("block", &AtHeight { height: height.to_string() }, asked).await
    }

    /// Headers of the blocks from `from` to `to`, in order. The node gives at most twenty, the
    /// newest of them, and leaves out what it has thrown away.
    pub async fn headers(&self, from: u64, to: u64) -> Result<Vec<BlockHeader>, QueryError> {
        let asked = || format!("headers of blocks {from} to {to}");
        let headers = self.rpc_headers(from, to).await;
        headers.map_err(|error| QueryError::new(asked(), Failure::from(error)))
    }

    /// As [`Node::headers`], with the node's own words where it refuses.
    pub(crate) async fn rpc_headers(
        &self,
        from: u64,
        to: u64,
    ) -> Result<Vec<BlockHeader>, RpcError> {
        let params = Between { min_height: from.to_string(), max_height: to.to_string() };
        let found: header::Headers = self.rpc.call("blockchain", &params).await?;
        Ok(found.block_metas.into_iter().rev().collect())
    }

    /// A transaction that is in a block; `None` if this node knows of none. It may still come, and
    /// a node that does not index transactions knows of none at all.
    pub async fn tx(&self, hash: TxHash) -> Result<Option<TxFound>, QueryError> {
        // Go asks for the proof too and drops it.
        let params = ByHash { hash: hash.to_base64(), prove: false };
        match self.rpc.call("tx", &params).await {
            Ok(found) => Ok(Some(found)),
            Err(RpcError::Refused(refusal)) if refusal.data.ends_with(") not found") => Ok(None),
            Err(error) => Err(QueryError::new(format!("transaction {hash}"), Failure::from(error))),
        }
    }

    async fn get<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &(impl Serialize + Sync),
        asked: impl FnOnce() -> String,
    ) -> Result<T, QueryError> {
        let result = self.rpc.call(method, params).await;
        result.map_err(|error| QueryError::new(asked(), Failure::from(error)))
    }
}
