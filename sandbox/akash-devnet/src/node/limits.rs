//! Limits of blocks and of the mempool.

use prost::Message;

use super::merkle::{Hash, sha256};

/// What a block may hold; every node of a chain must agree on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLimits {
    /// Most bytes of a block.
    pub max_bytes: u64,
    /// Most gas that the transactions of a block may ask for together; `None` for any.
    pub max_gas: Option<u64>,
}

impl Default for BlockLimits {
    fn default() -> Self {
        Self { max_bytes: 22_020_096, max_gas: Some(60_000_000) }
    }
}

impl BlockLimits {
    /// Most gas as the chain writes it: -1 for any.
    pub fn signed_gas(&self) -> i64 {
        self.max_gas.map_or(-1, |gas| i64::try_from(gas).unwrap_or(i64::MAX))
    }

    /// Most bytes as the chain writes it.
    pub fn signed_bytes(&self) -> i64 {
        i64::try_from(self.max_bytes).unwrap_or(i64::MAX)
    }

    pub fn hash(&self) -> Hash {
        let params = HashedParams { bytes: self.signed_bytes(), gas: self.signed_gas() };
        sha256(&params.encode_to_vec())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MempoolLimits {
    /// Most transactions.
    pub max_txs: usize,
    /// Most bytes of all transactions together.
    pub max_bytes: u64,
    /// Most bytes of one transaction.
    pub max_tx_bytes: usize,
    /// How many transactions that were seen are remembered.
    pub cache: usize,
}

impl Default for MempoolLimits {
    /// CometBFT's own.
    fn default() -> Self {
        Self { max_txs: 5_000, max_bytes: 1 << 30, max_tx_bytes: 1 << 20, cache: 10_000 }
    }
}

#[derive(Clone, PartialEq, Message)]
struct HashedParams {
    #[prost(int64, tag = "1")]
    bytes: i64,
    #[prost(int64, tag = "2")]
    gas: i64,
}
