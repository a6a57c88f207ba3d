//! The blocks so far, what became of their transactions, and the last few states.
//!
//! Persistent trees, as in the state: a copy is a snapshot that costs next to nothing, so whoever
//! answers questions does not hold up the chain.

use std::sync::Arc;

use bytes::Bytes;
use prost::Message;
use rpds::{HashTrieMapSync, RedBlackTreeMapSync};

use super::block::Block;
use super::merkle::Hash;
use super::query::Query;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TxPlace {
    pub height: u64,
    /// Its place in the block, from 0.
    pub index: usize,
}

/// Why there is nothing at a height. The texts are CometBFT's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeightError {
    #[error("height must be greater than 0, but got {0}")]
    NotPositive(i64),
    #[error("height {height} must be less than or equal to the current blockchain height {latest}")]
    Ahead { height: i64, latest: u64 },
    #[error("height {height} is not available, lowest height is {lowest}")]
    Pruned { height: i64, lowest: u64 },
}

#[derive(Clone)]
pub struct History<A> {
    blocks: RedBlackTreeMapSync<u64, Arc<Block>>,
    heights: HashTrieMapSync<Hash, u64>,
    txs: HashTrieMapSync<Hash, TxPlace>,
    states: RedBlackTreeMapSync<u64, A>,
    /// What counts as the newest block. Lower than it is for a node that lags.
    latest: u64,
}

impl<A> Default for History<A> {
    fn default() -> Self {
        Self {
            blocks: RedBlackTreeMapSync::new_sync(),
            heights: HashTrieMapSync::new_sync(),
            txs: HashTrieMapSync::new_sync(),
            states: RedBlackTreeMapSync::new_sync(),
            latest: 0,
        }
    }
}

impl<A: Clone> History<A> {
    /// Height of the newest block; 0 before the first.
    pub const fn latest(&self) -> u64 {
        self.latest
    }

    /// Height of the oldest block that is left; 0 before the first.
    pub fn base(&self) -> u64 {
        self.blocks.first().map_or(0, |(height, _)| *height)
    }

    pub fn latest_block(&self) -> Option<&Arc<Block>> {
        self.block(self.latest)
    }

    pub fn block(&self, height: u64) -> Option<&Arc<Block>> {
        self.blocks.get(&height).filter(|_| height <= self.latest)
    }

    pub fn block_by_hash(&self, hash: &Hash) -> Option<&Arc<Block>> {
        self.block(*self.heights.get(hash)?)
    }

    pub fn tx(&self, hash: &Hash) -> Option<(TxPlace, &Arc<Block>)> {
        let place = *self.txs.get(hash)?;
        Some((place, self.block(place.height)?))
    }

    /// The state after a height, where it is still kept.
    pub fn state(&self, height: u64) -> Option<&A> {
        self.states.get(&height).filter(|_| height <= self.latest)
    }

    /// Height of the oldest state that is left.
    pub fn oldest_state(&self) -> u64 {
        self.states.first().map_or(0, |(height, _)| *height)
    }

    /// A height that was asked for, `None` for the newest, checked against what there is.
    pub fn height(&self, asked: Option<i64>) -> Result<u64, HeightError> {
        self.height_up_to(asked, self.latest)
    }

    /// As [`Self::height`], for what is known of the next block too.
    pub fn height_or_next(&self, asked: Option<i64>) -> Result<u64, HeightError> {
        self.height_up_to(asked, self.latest.saturating_add(1))
    }

    fn height_up_to(&self, asked: Option<i64>, latest: u64) -> Result<u64, HeightError> {
        let Some(height) = asked else { return Ok(latest) };
        let found = u64::try_from(height).ok().filter(|height| *height > 0);
        let found = found.ok_or(HeightError::NotPositive(height))?;
        if found > latest {
            return Err(HeightError::Ahead { height, latest });
        }
        let lowest = self.base();
        if found < lowest { Err(HeightError::Pruned { height, lowest }) } else { Ok(found) }
    }

    /// Transactions that a query matches, in the order of the chain.
    pub fn search(&self, query: &Query) -> Vec<TxPlace> {
        if let Some(hash) = query.required("tx.hash") {
            let place = parse_hash(hash).and_then(|hash| self.tx(&hash));
            let found = place.filter(|(place, block)| matches(query, block, place.index));
            return found.map(|(place, _)| place).into_iter().collect();
        }
        let (low, high) = query.range("tx.height");
        let (low, high) = (low.max(self.base()), high.min(self.latest));
        if low > high {
            return Vec::new();
        }
        let mut places = Vec::new();
        for (height, block) in self.blocks.range(low..=high) {
            let found = (0..block.txs.len()).filter(|index| matches(query, block, *index));
            places.extend(found.map(|index| TxPlace { height: *height, index }));
        }
        places
    }

    /// Blocks whose own events a query matches, in the order of the chain.
    pub fn search_blocks(&self, query: &Query) -> Vec<u64> {
        let (low, high) = query.range("block.height");
        let (low, high) = (low.max(self.base()), high.min(self.latest));
        if low > high {
            return Vec::new();
        }
        let blocks = self.blocks.range(low..=high).filter(|(height, block)| {
            query.matches(&[("block.height", &height.to_string())], &block.events)
        });
        blocks.map(|(height, _)| *height).collect()
    }

    /// The same past as a node sees it that is some blocks behind.
    pub fn behind(&self, blocks: u64) -> Self {
        let latest = self.latest.saturating_sub(blocks).max(self.base());
        Self { latest, ..self.clone() }
    }

    /// Adds the next block and the state after it.
    pub(super) fn push(&mut self, block: Arc<Block>, state: A) {
        let height = block.height();
        self.heights.insert_mut(block.id.hash, height);
        for (index, hash) in block.tx_hashes.iter().enumerate() {
            self.txs.insert_mut(*hash, TxPlace { height, index });
        }
        self.blocks.insert_mut(height, block);
        self.states.insert_mut(height, state);
        self.latest = height;
    }

    /// Throws away blocks below a height, but never the newest.
    pub(super) fn prune_blocks(&mut self, below: u64) {
        while let Some((height, block)) = self.blocks.first()
            && *height < below.min(self.latest)
        {
            let (height, block) = (*height, Arc::clone(block));
            self.heights.remove_mut(&block.id.hash);
            for hash in &block.tx_hashes {
                // The same bytes may have failed in one block and been sent again.
                if self.txs.get(hash).is_some_and(|place| place.height == height) {
                    self.txs.remove_mut(hash);
                }
            }
            self.blocks.remove_mut(&height);
        }
    }

    /// Throws away states below a height, but never the newest.
    pub(super) fn prune_states(&mut self, below: u64) {
        while let Some((height, _)) = self.states.first()
            && *height < below.min(self.latest)
        {
            let height = *height;
            self.states.remove_mut(&height);
        }
    }
}

fn matches(query: &Query, block: &Block, index: usize) -> bool {
    let Some((_, hash, result)) = block.tx(index) else { return false };
    let (hash, height) = (hex::encode_upper(hash), block.height().to_string());
    query.matches(&[("tx.hash", &hash), ("tx.height", &height)], &result.events)
}

/// A digest written in hexadecimal.
pub fn parse_hash(text: &str) -> Option<Hash> {
    let mut hash = [0; 32];
    hex::decode_to_slice(text, &mut hash).ok()?;
    Some(hash)
}

/// Bytes before the content of a record: its length and its checksum.
pub const HEAD: usize = 8;
/// No record is longer: more than the largest block.
const LONGEST: usize = 1 << 28;

/// What is kept of a block. Everything else follows from it and from genesis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub height: u64,
    /// Its time, in nanoseconds since 1970.
    pub time_unix_nanos: i64,
    pub txs: Vec<Bytes>,
    /// The digest of the state after it, to notice when the rules have changed.
    pub app_hash: Hash,
}

/// The first bytes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub length: usize,
    checksum: u32,
}

impl Record {
    pub fn of(block: &Block) -> Self {
        Self {
            height: block.height(),
            time_unix_nanos: block.header.time_unix_nanos,
            txs: block.txs.clone(),
            app_hash: block.app_hash,
        }
    }

    /// The record as bytes, with its head.
    pub fn encode(&self) -> Vec<u8> {
        let content = Content {
            height: self.height,
            time: self.time_unix_nanos,
            txs: self.txs.clone(),
            app_hash: self.app_hash.to_vec(),
        }
        .encode_to_vec();
        // The content is shorter than the longest record, which fits.
        let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
        let mut bytes = Vec::with_capacity(HEAD + content.len());
        bytes.extend(length.to_le_bytes());
        bytes.extend(crc32fast::hash(&content).to_le_bytes());
        bytes.extend(content);
        bytes
    }
}

impl Head {
    /// The head of a record; `None` where it can be none.
    pub fn decode(bytes: [u8; HEAD]) -> Option<Self> {
        let [a, b, c, d, e, f, g, h] = bytes;
        let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?;
        let checksum = u32::from_le_bytes([e, f, g, h]);
        (length > 0 && length <= LONGEST).then_some(Self { length, checksum })
    }

    /// The record whose content this is; `None` where it is damaged.
    pub fn content(&self, bytes: &[u8]) -> Option<Record> {
        if bytes.len() != self.length || crc32fast::hash(bytes) != self.checksum {
            return None;
        }
        let content = Content::decode(bytes).ok()?;
        Some(Record {
            height: content.height,
            time_unix_nanos: content.time,
            txs: content.txs,
            app_hash: content.app_hash.try_into().ok()?,
        })
    }
}

#[derive(Clone, PartialEq, Message)]
struct Content {
    #[prost(uint64, tag = "1")]
    height: u64,
    #[prost(sfixed64, tag = "2")]
    time: i64,
    #[prost(bytes = "bytes", repeated, tag = "3")]
    txs: Vec<Bytes>,
    #[prost(bytes = "vec", tag = "4")]
    app_hash: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_and_no_changed_byte_goes_unnoticed() {
        let record = Record {
            height: 7,
            time_unix_nanos: -5,
            txs: vec![Bytes::from_static(b"tx"), Bytes::new()],
            app_hash: [9; 32],
        };
        let bytes = record.encode();
        let (head, content) = bytes.split_at(HEAD);
        let head = Head::decode(head.try_into().unwrap()).unwrap();
        assert_eq!(head.content(content), Some(record));
        for index in 0..content.len() {
            let mut damaged = content.to_vec();
            damaged[index] ^= 1;
            assert_eq!(head.content(&damaged), None);
        }
    }
}
