//! Transactions that wait for a block, in the order they came.

use std::collections::{BTreeMap, HashMap, VecDeque};

use bytes::Bytes;
use prost::Message;

use super::merkle::{Hash, sha256};

/// Bytes that a block needs beside its transactions, with one validator: CometBFT's own figures for
/// framing, header and commit.
const BLOCK_OVERHEAD: u64 = 11 + 626 + 94 + 109;

/// Why a transaction is not even looked at. The texts are CometBFT's; clients match them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BroadcastError {
    #[error("tx already exists in cache")]
    InCache,
    #[error(
        "mempool is full: number of txs {txs} (max: {max_txs}), total txs bytes {bytes} (max: {max_bytes})"
    )]
    Full {
        txs: usize,
        /// Most it may hold.
        max_txs: usize,
        /// Bytes it holds.
        bytes: u64,
        /// Most it may hold.
        max_bytes: u64,
    },
    #[error("Tx too large. Max size is {max}, but got {actual}")]
    TooLarge {
        /// Most bytes.
        max: usize,
        /// Its bytes.
        actual: usize,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    pub tx: Bytes,
    pub hash: Hash,
    pub gas_wanted: i64,
}

#[derive(Clone, Debug)]
pub struct Mempool {
    limits: MempoolLimits,
    pending: VecDeque<Pending>,
    bytes: u64,
    cache: Cache,
}

impl Mempool {
    /// An empty one.
    pub fn new(limits: MempoolLimits) -> Self {
        let cache = Cache::new(limits.cache);
        Self { limits, pending: VecDeque::new(), bytes: 0, cache }
    }

    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Bytes of all that wait.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Those that wait, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Pending> {
        self.pending.iter()
    }

    /// The error of a mempool without room.
    pub fn full(&self) -> BroadcastError {
        BroadcastError::Full {
            txs: self.pending.len(),
            max_txs: self.limits.max_txs,
            bytes: self.bytes,
            max_bytes: self.limits.max_bytes,
        }
    }

    /// Whether a transaction may be looked at; if so its digest, which is remembered from now on.
    pub(super) fn admit(&mut self, tx: &[u8]) -> Result<Hash, BroadcastError> {
        let room = self.pending.len() < self.limits.max_txs
            && self.bytes.saturating_add(length(tx)) <= self.limits.max_bytes;
        if !room {
            return Err(self.full());
        }
        if tx.len() > self.limits.max_tx_bytes {
            let (max, actual) = (self.limits.max_tx_bytes, tx.len());
            return Err(BroadcastError::TooLarge { max, actual });
        }
        let hash = sha256(tx);
        if self.cache.insert(hash) { Ok(hash) } else { Err(BroadcastError::InCache) }
    }

    /// Takes in a transaction that was admitted and accepted.
    pub(super) fn push(&mut self, pending: Pending) {
        self.bytes = self.bytes.saturating_add(length(&pending.tx));
        self.pending.push_back(pending);
    }

    /// Forgets a transaction that was admitted and refused, so that it can be sent again.
    pub(super) fn forget(&mut self, hash: &Hash) {
        self.cache.remove(hash);
    }

    /// The transactions for the next block: the oldest, up to the first that does not fit. Those
    /// behind it wait too, or one account's could overtake each other.
    pub fn reap(&self, limits: &BlockLimits) -> Vec<Bytes> {
        let mut bytes = BLOCK_OVERHEAD;
        let mut gas = 0_u64;
        let mut txs = Vec::new();
        for pending in &self.pending {
            bytes = bytes.saturating_add(field_size(length(&pending.tx)));
            gas = gas.saturating_add(u64::try_from(pending.gas_wanted).unwrap_or_default());
            if bytes > limits.max_bytes || limits.max_gas.is_some_and(|max| gas > max) {
                break;
            }
            txs.push(pending.tx.clone());
        }
        txs
    }

    /// Removes what a block has included. One that failed in the block can be sent again.
    pub(super) fn remove_included<'a>(
        &mut self,
        included: impl IntoIterator<Item = (&'a Hash, bool)>,
    ) {
        let mut gone = std::collections::HashSet::new();
        for (hash, worked) in included {
            gone.insert(*hash);
            if worked {
                self.cache.insert(*hash);
            } else {
                self.cache.remove(hash);
            }
        }
        self.keep(|pending| !gone.contains(&pending.hash));
    }

    /// Looks at everything again and throws out what is refused now.
    pub(super) fn recheck(&mut self, mut accepted: impl FnMut(&[u8]) -> bool) {
        let mut refused = Vec::new();
        self.keep(|pending| {
            let keep = accepted(&pending.tx);
            if !keep {
                refused.push(pending.hash);
            }
            keep
        });
        for hash in refused {
            self.cache.remove(&hash);
        }
    }

    fn keep(&mut self, keep: impl FnMut(&Pending) -> bool) {
        self.pending.retain(keep);
        self.bytes = self.pending.iter().map(|pending| length(&pending.tx)).sum();
    }
}

fn length(tx: &[u8]) -> u64 {
    u64::try_from(tx.len()).unwrap_or(u64::MAX)
}

/// Bytes of a transaction in a block: one of the field's number, its length, itself.
fn field_size(length: u64) -> u64 {
    // A length delimiter is at most ten bytes.
    let delimiter = prost::encoding::encoded_len_varint(length);
    u64::try_from(delimiter).unwrap_or(10).saturating_add(length).saturating_add(1)
}

/// Remembers a number of digests; the one not seen for longest is forgotten first.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    capacity: usize,
    turn: u64,
    seen: HashMap<Hash, u64>,
    order: BTreeMap<u64, Hash>,
}

impl Cache {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, turn: 0, seen: HashMap::new(), order: BTreeMap::new() }
    }

    /// Remembers a digest; whether it was new.
    pub(super) fn insert(&mut self, hash: Hash) -> bool {
        self.turn += 1;
        let before = self.seen.insert(hash, self.turn);
        if let Some(turn) = before {
            self.order.remove(&turn);
        }
        self.order.insert(self.turn, hash);
        if self.seen.len() > self.capacity
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.seen.remove(&oldest);
        }
        before.is_none()
    }

    pub(super) fn remove(&mut self, hash: &Hash) {
        if let Some(turn) = self.seen.remove(hash) {
            self.order.remove(&turn);
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_seen_is_forgotten_first() {
        let mut cache = Cache::new(2);
        assert!(cache.insert([1; 32]));
        assert!(cache.insert([2; 32]));
        assert!(!cache.insert([1; 32]), "known, and now the newest");
        assert!(cache.insert([3; 32]), "pushes out 2");
        assert!(!cache.insert([1; 32]));
        assert!(cache.insert([2; 32]));
    }

    #[test]
    fn what_was_removed_is_new_again() {
        let mut cache = Cache::new(2);
        cache.insert([1; 32]);
        cache.remove(&[1; 32]);
        assert!(cache.insert([1; 32]));
    }
}
