//! Votes for a block, and the commit that the next block carries.

use akash_proto::tendermint::types as wire;
use prost::Message;

use super::header::{BlockId, ConsensusAddress, id_to_wire, signed};
use super::merkle::{self, Hash};
use super::time;
use super::validator::Validator;

/// The votes that made a block final. There is one validator, so there is one vote; the first block
/// follows no block and carries none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// Height of the block that was voted for; 0 where there is none.
    pub height: u64,
    pub block_id: Option<BlockId>,
    pub vote: Option<Vote>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vote {
    pub validator: ConsensusAddress,
    /// When, in nanoseconds since 1970.
    pub time_unix_nanos: i64,
    /// Ed25519 signature of [`sign_bytes`].
    pub signature: Vec<u8>,
}

impl Commit {
    /// The validator's vote for a block at a time.
    pub fn sign(
        validator: &Validator,
        chain_id: &str,
        height: u64,
        block_id: BlockId,
        time_unix_nanos: i64,
    ) -> Self {
        let bytes = sign_bytes(chain_id, height, &block_id, time_unix_nanos);
        let signature = validator.sign(&bytes);
        let vote = Vote { validator: validator.address(), time_unix_nanos, signature };
        Self { height, block_id: Some(block_id), vote: Some(vote) }
    }

    pub fn hash(&self) -> Hash {
        let votes: Vec<Vec<u8>> =
            self.vote.iter().map(|vote| vote.to_wire().encode_to_vec()).collect();
        merkle::root(&votes)
    }

    pub fn to_wire(&self) -> wire::Commit {
        wire::Commit {
            height: signed(self.height),
            round: 0,
            block_id: Some(id_to_wire(self.block_id.as_ref())),
            signatures: self.vote.iter().map(Vote::to_wire).collect(),
        }
    }
}

impl Vote {
    fn to_wire(&self) -> wire::CommitSig {
        wire::CommitSig {
            block_id_flag: wire::BlockIdFlag::Commit.into(),
            validator_address: self.validator.to_vec(),
            timestamp: Some(time::timestamp(self.time_unix_nanos)),
            signature: self.signature.clone(),
        }
    }
}

/// What a validator signs to vote for a block.
pub fn sign_bytes(
    chain_id: &str,
    height: u64,
    block_id: &BlockId,
    time_unix_nanos: i64,
) -> Vec<u8> {
    let vote = CanonicalVote {
        kind: wire::SignedMsgType::Precommit.into(),
        height: signed(height),
        round: 0,
        block_id: Some(block_id.to_wire()),
        timestamp: Some(time::timestamp(time_unix_nanos)),
        chain_id: chain_id.to_owned(),
    };
    vote.encode_length_delimited_to_vec()
}

/// A vote as it is signed. Its block id has the fields of an ordinary one.
#[derive(Clone, PartialEq, Message)]
struct CanonicalVote {
    #[prost(enumeration = "wire::SignedMsgType", tag = "1")]
    kind: i32,
    #[prost(sfixed64, tag = "2")]
    height: i64,
    #[prost(sfixed64, tag = "3")]
    round: i64,
    #[prost(message, optional, tag = "4")]
    block_id: Option<wire::BlockId>,
    #[prost(message, optional, tag = "5")]
    timestamp: Option<prost_types::Timestamp>,
    #[prost(string, tag = "6")]
    chain_id: String,
}
