//! What a node says of itself.

use std::time::SystemTime;

use serde::Deserialize;

use super::BlockHash;
use super::block::{moment, number};
use super::header::hash_or_none;

/// State of a node.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Wire")]
pub struct NodeStatus {
    /// Which chain it is on.
    pub chain_id: String,
    /// Its own name, chosen by its operator.
    pub moniker: String,
    /// Its id in the peer-to-peer network: tells two nodes apart.
    pub node_id: String,
    /// Version of CometBFT.
    pub version: String,
    /// Height of its newest block.
    pub latest_height: u64,
    /// Hash of its newest block; none before the first.
    pub latest_hash: Option<BlockHash>,
    /// Time of its newest block.
    pub latest_time: SystemTime,
    /// Height of the oldest block it still has.
    pub earliest_height: u64,
    /// Whether it is still reading old blocks: then what it knows is old, and what it does not know
    /// may exist.
    pub catching_up: bool,
}

#[derive(Deserialize)]
struct Wire {
    node_info: NodeInfo,
    sync_info: SyncInfo,
}

#[derive(Deserialize)]
struct NodeInfo {
    id: String,
    network: String,
    version: String,
    moniker: String,
}

#[derive(Deserialize)]
struct SyncInfo {
    #[serde(deserialize_with = "hash_or_none")]
    latest_block_hash: Option<BlockHash>,
    #[serde(deserialize_with = "number")]
    latest_block_height: u64,
    #[serde(deserialize_with = "moment")]
    latest_block_time: SystemTime,
    #[serde(deserialize_with = "number")]
    earliest_block_height: u64,
    catching_up: bool,
}

impl From<Wire> for NodeStatus {
    fn from(Wire { node_info, sync_info }: Wire) -> Self {
        Self {
            chain_id: node_info.network,
            moniker: node_info.moniker,
            node_id: node_info.id,
            version: node_info.version,
            latest_height: sync_info.latest_block_height,
            latest_hash: sync_info.latest_block_hash,
            latest_time: sync_info.latest_block_time,
            earliest_height: sync_info.earliest_block_height,
            catching_up: sync_info.catching_up,
        }
    }
}
