//! Questions to a node, each answered within its time.

use std::time::Duration;

use serde::Serialize;
use tokio::time::timeout;

use super::block::BlockEffects;
use super::decode::Results;
use super::plan::{Fetched, Problem, StatusAnswer};
use super::problem::problem_of;
use crate::query::{BlockHeader, Node};
use crate::transport::{RpcClient, RpcError};

#[derive(Serialize)]
struct AtHeight {
    height: String,
}

pub(super) async fn status(rpc: RpcClient, within: Duration) -> Result<StatusAnswer, Problem> {
    let status = bounded(within, 0, Node::new(rpc).rpc_status()).await?;
    Ok(StatusAnswer {
        chain_id: status.chain_id,
        height: status.latest_height,
        hash: status.latest_hash,
        earliest: status.earliest_height,
        catching_up: status.catching_up,
    })
}

pub(super) async fn headers(
    rpc: RpcClient,
    from: u64,
    to: u64,
    within: Duration,
) -> Result<Vec<BlockHeader>, Problem> {
    bounded(within, from, Node::new(rpc).rpc_headers(from, to)).await
}

pub(super) async fn results(
    rpc: RpcClient,
    height: u64,
    within: Duration,
) -> Result<Fetched<BlockEffects>, Problem> {
    let params = AtHeight { height: height.to_string() };
    let call = rpc.call_weighed::<Results>("block_results", &params);
    let (results, bytes) = bounded(within, height, call).await?;
    if results.height != height {
        let reason = format!("asked for block {height}, got {}", results.height);
        return Err(Problem::Failed { reason });
    }
    Ok(Fetched { block: results.effects, bytes })
}

async fn bounded<T>(
    within: Duration,
    height: u64,
    call: impl Future<Output = Result<T, RpcError>>,
) -> Result<T, Problem> {
    match timeout(within, call).await {
        Ok(answer) => answer.map_err(|error| problem_of(&error, height)),
        Err(_) => Err(Problem::Silent),
    }
}
