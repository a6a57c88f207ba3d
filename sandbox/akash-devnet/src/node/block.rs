//! A block with everything that is known of it.

use akash_proto::tendermint::types as wire;
use bytes::Bytes;
use prost::Message;

use crate::state::{Event, TxResult};

use super::commit::Commit;
use super::header::{BlockId, Header};
use super::merkle::{self, Hash, sha256};

/// Bytes of a part, in which blocks travel between nodes.
const PART: usize = 65_536;

/// A final block and what became of its transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub id: BlockId,
    pub header: Header,
    /// Its transactions, and their digests.
    pub txs: Vec<Bytes>,
    /// The digest of each transaction, by which clients know it.
    pub tx_hashes: Vec<Hash>,
    /// The votes for the block before.
    pub last_commit: Commit,
    /// What became of each transaction.
    pub results: Vec<TxResult>,
    /// What happened before and after the transactions.
    pub events: Vec<Event>,
    /// The digest of the state after the block; the next header carries it.
    pub app_hash: Hash,
    /// Bytes of the block between nodes.
    pub size: usize,
}

impl Block {
    pub const fn height(&self) -> u64 {
        self.header.height
    }

    pub fn to_wire(&self) -> wire::Block {
        to_wire(&self.header, &self.txs, &self.last_commit)
    }

    /// Merkle root of the results, which the next header carries.
    pub fn results_hash(&self) -> Hash {
        let leaves: Vec<Vec<u8>> = self.results.iter().map(result_leaf).collect();
        merkle::root(&leaves)
    }

    /// A transaction with its digest and result.
    pub fn tx(&self, index: usize) -> Option<(&Bytes, &Hash, &TxResult)> {
        Some((self.txs.get(index)?, self.tx_hashes.get(index)?, self.results.get(index)?))
    }
}

/// The form of a block in protobuf messages.
pub(super) fn to_wire(header: &Header, txs: &[Bytes], last_commit: &Commit) -> wire::Block {
    wire::Block {
        header: Some(header.to_wire()),
        data: Some(wire::Data { txs: txs.iter().map(|tx| tx.to_vec()).collect() }),
        evidence: Some(wire::EvidenceList::default()),
        last_commit: Some(last_commit.to_wire()),
    }
}

pub(super) fn data_hash(tx_hashes: &[Hash]) -> Hash {
    merkle::root(tx_hashes)
}

/// The id of a block and its size.
pub(super) fn identify(header: &Header, txs: &[Bytes], last_commit: &Commit) -> (BlockId, usize) {
    let bytes = to_wire(header, txs, last_commit).encode_to_vec();
    let parts: Vec<&[u8]> = bytes.chunks(PART).collect();
    let count = u32::try_from(parts.len()).unwrap_or(u32::MAX);
    let id = BlockId { hash: header.hash(), parts: count, parts_hash: merkle::root(&parts) };
    (id, bytes.len())
}

/// The digest of each transaction.
pub(super) fn hash_txs(txs: &[Bytes]) -> Vec<Hash> {
    txs.iter().map(|tx| sha256(tx)).collect()
}

/// What all nodes must agree on of a result.
fn result_leaf(result: &TxResult) -> Vec<u8> {
    let (gas_wanted, gas_used) = (result.gas_wanted, result.gas_used);
    let agreed =
        AgreedResult { code: result.code, data: result.data.clone(), gas_wanted, gas_used };
    agreed.encode_to_vec()
}

#[derive(Clone, PartialEq, Message)]
struct AgreedResult {
    #[prost(uint32, tag = "1")]
    code: u32,
    #[prost(bytes = "vec", tag = "2")]
    data: Vec<u8>,
    #[prost(int64, tag = "5")]
    gas_wanted: i64,
    #[prost(int64, tag = "6")]
    gas_used: i64,
}
