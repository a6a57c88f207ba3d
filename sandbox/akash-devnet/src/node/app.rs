//! What a node needs of the state machine that it runs.

use super::commit;
use super::commit::{VOTING_POWER, Validator};
use super::mempool::{BlockLimits, MempoolLimits};
use super::merkle::Hash;
use crate::state::{BlockInfo, Event, QueryError, SimulateError, Simulated, State, TxResult};

/// A state machine under a node. A copy must be cheap: a node makes one per transaction and keeps
/// one per block.
pub trait App: Clone + Send + Sync + 'static {
    /// Begins a block; what happens before its transactions.
    fn begin_block(&mut self, block: BlockInfo) -> Vec<Event>;
    /// Looks at a transaction for the mempool and counts it if it is accepted.
    fn check_tx(&mut self, tx: &[u8]) -> TxResult;
    /// Looks again, after a block, at a transaction that was accepted before.
    fn recheck_tx(&mut self, tx: &[u8]) -> TxResult {
        self.check_tx(tx)
    }
    /// Executes a transaction in the block that was begun.
    fn deliver_tx(&mut self, tx: &[u8]) -> TxResult;
    /// Ends a block; what happens after its transactions.
    fn end_block(&mut self) -> Vec<Event>;
    /// Makes the block final; the digest of the state.
    fn commit(&mut self) -> [u8; 32];
    /// Tries a transaction without effect.
    fn simulate(&self, tx: &[u8]) -> Result<Simulated, SimulateError>;
    /// Answers a query by gRPC method path.
    fn query(&self, path: &str, data: &[u8]) -> Result<Vec<u8>, QueryError>;
}

impl App for State {
    fn begin_block(&mut self, block: BlockInfo) -> Vec<Event> {
        Self::begin_block(self, block)
    }

    fn check_tx(&mut self, tx: &[u8]) -> TxResult {
        Self::check_tx(self, tx)
    }

    fn recheck_tx(&mut self, tx: &[u8]) -> TxResult {
        Self::recheck_tx(self, tx)
    }

    fn deliver_tx(&mut self, tx: &[u8]) -> TxResult {
        Self::deliver_tx(self, tx)
    }

    fn end_block(&mut self) -> Vec<Event> {
        Self::end_block(self)
    }

    fn commit(&mut self) -> [u8; 32] {
        Self::commit(self)
    }

    fn simulate(&self, tx: &[u8]) -> Result<Simulated, SimulateError> {
        Self::simulate(self, tx)
    }

    fn query(&self, path: &str, data: &[u8]) -> Result<Vec<u8>, QueryError> {
        Self::query(self, path, data)
    }
}

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
    pub block: BlockLimits,
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
        commit::set_hash(&self.validator.public_key(), VOTING_POWER)
    }
}
