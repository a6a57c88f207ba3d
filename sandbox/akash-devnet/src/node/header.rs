//! Block headers and what identifies a block.

use akash_proto::tendermint::types as wire;
use akash_proto::tendermint::version::Consensus;
use prost::Message;
use prost_types::Timestamp;

use super::merkle::{self, Hash};
use super::time;

/// Version of the block format that CometBFT 0.38 speaks.
pub const BLOCK_PROTOCOL: u64 = 11;

/// Twenty bytes that name a validator.
pub type ConsensusAddress = [u8; 20];

/// What identifies a block: its header, and the parts it travels in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockId {
    pub hash: Hash,
    /// How many parts the block has on the wire between nodes.
    pub parts: u32,
    pub parts_hash: Hash,
}

impl BlockId {
    pub fn to_wire(&self) -> wire::BlockId {
        let part_set_header =
            Some(wire::PartSetHeader { total: self.parts, hash: self.parts_hash.to_vec() });
        wire::BlockId { hash: self.hash.to_vec(), part_set_header }
    }
}

/// The form of an optional id; the first block has none before it.
pub fn id_to_wire(id: Option<&BlockId>) -> wire::BlockId {
    let empty = || wire::BlockId {
        hash: Vec::new(),
        part_set_header: Some(wire::PartSetHeader::default()),
    };
    id.map_or_else(empty, BlockId::to_wire)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub chain_id: String,
    /// Height, from 1.
    pub height: u64,
    /// Time, in nanoseconds since 1970.
    pub time_unix_nanos: i64,
    /// The block before; none before the first.
    pub last_block_id: Option<BlockId>,
    /// Merkle root of the votes for the block before.
    pub last_commit_hash: Hash,
    pub data_hash: Hash,
    /// Merkle root of the validators of this block, and of the next: they never change here.
    pub validators_hash: Hash,
    pub consensus_hash: Hash,
    /// What the application answered to the block before.
    pub app_hash: Hash,
    /// Merkle root of the results of the block before.
    pub last_results_hash: Hash,
    /// Merkle root of evidence, of which there is none.
    pub evidence_hash: Hash,
    pub proposer: ConsensusAddress,
}

impl Header {
    /// Its digest, which is the block's.
    pub fn hash(&self) -> Hash {
        let version = Consensus { block: BLOCK_PROTOCOL, app: 0 };
        merkle::root(&[
            version.encode_to_vec(),
            text(&self.chain_id),
            integer(self.height),
            self.timestamp().encode_to_vec(),
            id_to_wire(self.last_block_id.as_ref()).encode_to_vec(),
            bytes(&self.last_commit_hash),
            bytes(&self.data_hash),
            bytes(&self.validators_hash),
            bytes(&self.validators_hash),
            bytes(&self.consensus_hash),
            bytes(&self.app_hash),
            bytes(&self.last_results_hash),
            bytes(&self.evidence_hash),
            bytes(&self.proposer),
        ])
    }

    pub fn timestamp(&self) -> Timestamp {
        time::timestamp(self.time_unix_nanos)
    }

    /// Its height in protobuf messages, where heights are signed.
    pub fn signed_height(&self) -> i64 {
        signed(self.height)
    }

    pub fn to_wire(&self) -> wire::Header {
        wire::Header {
            version: Some(Consensus { block: BLOCK_PROTOCOL, app: 0 }),
            chain_id: self.chain_id.clone(),
            height: self.signed_height(),
            time: Some(self.timestamp()),
            last_block_id: Some(id_to_wire(self.last_block_id.as_ref())),
            last_commit_hash: self.last_commit_hash.to_vec(),
            data_hash: self.data_hash.to_vec(),
            validators_hash: self.validators_hash.to_vec(),
            next_validators_hash: self.validators_hash.to_vec(),
            consensus_hash: self.consensus_hash.to_vec(),
            app_hash: self.app_hash.to_vec(),
            last_results_hash: self.last_results_hash.to_vec(),
            evidence_hash: self.evidence_hash.to_vec(),
            proposer_address: self.proposer.to_vec(),
        }
    }
}

/// A height where the wire has it signed; no chain lives long enough for it not to fit.
pub fn signed(height: u64) -> i64 {
    i64::try_from(height).unwrap_or(i64::MAX)
}

// Fields are hashed as messages with one field of number 1; an empty field as no bytes at all.

fn text(value: &str) -> Vec<u8> {
    value.to_owned().encode_to_vec()
}

fn integer(value: u64) -> Vec<u8> {
    signed(value).encode_to_vec()
}

fn bytes(value: &[u8]) -> Vec<u8> {
    value.to_vec().encode_to_vec()
}
