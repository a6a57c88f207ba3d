//! The node: takes transactions, makes blocks.

use std::sync::Arc;

use bytes::Bytes;

use crate::state::{BlockInfo, TxResult};

use super::app::{App, Chain};
use super::block::{self, Block};
use super::commit::Commit;
use super::header::Header;
use super::history::{History, Record};
use super::mempool::{BlockLimits, BroadcastError, Mempool, Pending};
use super::merkle::{Hash, sha256};

/// Blocks are at least this far apart in time, in nanoseconds.
const STEP: i64 = 1_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    pub hash: Hash,
    pub result: TxResult,
}

/// Why a kept block cannot be made again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    #[error("the next block is {expected}, but the record is of block {found}")]
    Order { expected: u64, found: u64 },
    #[error("block {height} does not lead to the state that was recorded after it")]
    Diverged { height: u64 },
}

#[derive(Clone)]
pub struct Node<A> {
    chain: Arc<Chain>,
    app: A,
    check: A,
    mempool: Mempool,
    history: History<A>,
}

impl<A: App> Node<A> {
    /// A node before the first block.
    pub fn new(chain: Chain, app: A) -> Self {
        let mempool = Mempool::new(chain.mempool);
        let check = app.clone();
        Self { chain: Arc::new(chain), app, check, mempool, history: History::default() }
    }

    pub const fn chain(&self) -> &Arc<Chain> {
        &self.chain
    }

    /// The blocks so far. A copy is a snapshot.
    pub const fn history(&self) -> &History<A> {
        &self.history
    }

    /// The state that transactions are checked and simulated on: the newest block and what waits.
    pub const fn check_state(&self) -> &A {
        &self.check
    }

    pub const fn mempool(&self) -> &Mempool {
        &self.mempool
    }

    pub fn next_height(&self) -> u64 {
        match self.history.latest() {
            0 => self.chain.initial_height,
            latest => latest.saturating_add(1),
        }
    }

    /// Takes a transaction into the mempool if CheckTx accepts it.
    pub fn broadcast(&mut self, tx: Bytes) -> Result<Checked, BroadcastError> {
        let hash = self.mempool.admit(&tx)?;
        let mut check = self.check.clone();
        let result = check_tx(&mut check, &self.chain.block, &tx);
        if result.is_ok() {
            self.check = check;
            self.mempool.push(Pending { tx, hash, gas_wanted: result.gas_wanted });
        } else {
            self.mempool.forget(&hash);
        }
        Ok(Checked { hash, result })
    }

    /// What CheckTx would say of a transaction, which goes nowhere.
    pub fn check_only(&self, tx: &[u8]) -> Checked {
        let result = check_tx(&mut self.check.clone(), &self.chain.block, tx);
        Checked { hash: sha256(tx), result }
    }

    /// Makes the next block of what waits. Its time is the given one, but always later than that of
    /// the block before; the first block has the time of genesis, as CometBFT gives it.
    pub fn produce_block(&mut self, time_unix_nanos: i64) -> Arc<Block> {
        let time = match self.history.latest_block() {
            None => self.chain.genesis_time_unix_nanos,
            Some(last) => time_unix_nanos.max(last.header.time_unix_nanos.saturating_add(STEP)),
        };
        let txs = self.mempool.reap(&self.chain.block);
        let block = self.make(time, txs);
        self.mempool.remove_included(
            block.tx_hashes.iter().zip(&block.results).map(|(hash, result)| (hash, result.is_ok())),
        );
        let check = &mut self.check;
        self.mempool.recheck(|tx| check.recheck_tx(tx).is_ok());
        block
    }

    /// Makes a block again that was kept.
    pub fn replay(&mut self, record: &Record) -> Result<Arc<Block>, ReplayError> {
        let (expected, found) = (self.next_height(), record.height);
        if expected != found {
            return Err(ReplayError::Order { expected, found });
        }
        let block = self.make(record.time_unix_nanos, record.txs.clone());
        if block.app_hash == record.app_hash {
            Ok(block)
        } else {
            Err(ReplayError::Diverged { height: found })
        }
    }

    /// Throws away blocks and states below a height, but never the newest.
    pub fn prune_below(&mut self, height: u64) {
        self.history.prune_blocks(height);
        self.history.prune_states(height);
    }

    fn make(&mut self, time_unix_nanos: i64, txs: Vec<Bytes>) -> Arc<Block> {
        let height = self.next_height();
        let tx_hashes = block::hash_txs(&txs);
        let (last_commit, header) = self.header(height, time_unix_nanos, &tx_hashes);
        let (id, size) = block::identify(&header, &txs, &last_commit);

        let proposer = header.proposer;
        let mut events = self.app.begin_block(BlockInfo { height, time_unix_nanos, proposer });
        let results = txs.iter().map(|tx| self.app.deliver_tx(tx)).collect();
        events.extend(self.app.end_block());
        let app_hash = self.app.commit();

        let block =
            Block { id, header, txs, tx_hashes, last_commit, results, events, app_hash, size };
        let block = Arc::new(block);
        self.history.push(Arc::clone(&block), self.app.clone());
        self.history.prune_blocks(height.saturating_sub(self.chain.retain_blocks));
        self.history.prune_states(height.saturating_sub(self.chain.retain_states));
        self.check = self.app.clone();
        block
    }

    /// The header of the next block, and the votes for the last. A block's time is that of the votes
    /// it carries.
    fn header(&self, height: u64, time_unix_nanos: i64, txs: &[Hash]) -> (Commit, Header) {
        let chain = &self.chain;
        let last = self.history.latest_block();
        let last_commit = last.map_or_else(Commit::default, |last| {
            let (height, id) = (last.height(), last.id);
            Commit::sign(&chain.validator, &chain.chain_id, height, id, time_unix_nanos)
        });
        let nothing = sha256(&[]);
        let header = Header {
            chain_id: chain.chain_id.clone(),
            height,
            time_unix_nanos,
            last_block_id: last.map(|last| last.id),
            last_commit_hash: last_commit.hash(),
            data_hash: block::data_hash(txs),
            validators_hash: chain.validators_hash(),
            consensus_hash: chain.block.hash(),
            app_hash: last.map_or(nothing, |last| last.app_hash),
            last_results_hash: last.map_or(nothing, |last| last.results_hash()),
            evidence_hash: nothing,
            proposer: chain.validator.address(),
        };
        (last_commit, header)
    }
}

/// CheckTx, and the chain's own limit: more gas than a block has can never be included.
fn check_tx<A: App>(app: &mut A, limits: &BlockLimits, tx: &[u8]) -> TxResult {
    let result = app.check_tx(tx);
    let wanted = u64::try_from(result.gas_wanted).unwrap_or_default();
    match limits.max_gas {
        Some(max) if result.is_ok() && wanted > max => TxResult {
            code: 41,
            codespace: "sdk".to_owned(),
            log: format!("tx gas limit {wanted} exceeds block max gas {max}: invalid gas limit"),
            gas_wanted: result.gas_wanted,
            gas_used: result.gas_used,
            ..TxResult::default()
        },
        _ => result,
    }
}
