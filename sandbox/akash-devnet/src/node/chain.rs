//! What never changes in the life of a chain.

use super::limits::{BlockLimits, MempoolLimits};
use super::merkle::Hash;
use super::validator::{self, VOTING_POWER, Validator};

/// How many blocks are kept unless told otherwise.
const RETAIN_BLOCKS: u64 = 100_000;
/// How many states are kept, for queries at an earlier height.
const RETAIN_STATES: u64 = 100;

/// The facts of a chain and the limits of its node.
#[derive(Clone, Debug)]
pub struct Chain {
    pub chain_id: String,
    pub initial_height: u64,
    /// When the chain starts, in nanoseconds since 1970.
    pub genesis_time_unix_nanos: i64,
    pub validator: Validator,
    /// What a block may hold.
    pub block: BlockLimits,
    /// What the mempool may hold.
    pub mempool: MempoolLimits,
    /// How many blocks are kept.
    pub retain_blocks: u64,
    /// How many states are kept, for queries at an earlier height.
    pub retain_states: u64,
}

impl Chain {
    pub fn new(
        chain_id: impl Into<String>,
        initial_height: u64,
        genesis_time_unix_nanos: i64,
    ) -> Self {
        let chain_id = chain_id.into();
        Self {
            validator: Validator::of_chain(&chain_id),
            chain_id,
            initial_height: initial_height.max(1),
            genesis_time_unix_nanos,
            block: BlockLimits::default(),
            mempool: MempoolLimits::default(),
            retain_blocks: RETAIN_BLOCKS,
            retain_states: RETAIN_STATES,
        }
    }

    pub fn validators_hash(&self) -> Hash {
        validator::set_hash(&self.validator.public_key(), VOTING_POWER)
    }
}
