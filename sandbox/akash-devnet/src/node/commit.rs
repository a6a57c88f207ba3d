//! Votes for a block, and the commit that the next block carries.

use akash_proto::tendermint::crypto::{PublicKey, public_key};
use akash_proto::tendermint::types as wire;
use ed25519_dalek::{Signer, SigningKey};
use prost::Message;

use super::header::{BlockId, ConsensusAddress, id_to_wire, signed};
use super::merkle::{Hash, sha256};
use super::{merkle, time};

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

/// Voting power of the validator, as a recorded local chain had it.
pub const VOTING_POWER: i64 = 5_000_000;

#[derive(Clone)]
pub struct Validator {
    key: SigningKey,
}

impl Validator {
    /// The validator of a chain. The key is no secret and worth nothing: whoever knows the name of
    /// the chain knows it.
    pub fn of_chain(chain_id: &str) -> Self {
        let seed = sha256(format!("akash-devnet validator of {chain_id}").as_bytes());
        Self { key: SigningKey::from_bytes(&seed) }
    }

    pub fn public_key(&self) -> [u8; 32] {
        self.key.verifying_key().to_bytes()
    }

    /// Its address: the first bytes of the digest of its key.
    pub fn address(&self) -> ConsensusAddress {
        address_of(&self.public_key())
    }

    pub fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        self.key.sign(bytes).to_bytes().to_vec()
    }
}

impl std::fmt::Debug for Validator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Validator").field("address", &hex::encode(self.address())).finish()
    }
}

/// The address of an Ed25519 key.
pub fn address_of(public_key: &[u8]) -> ConsensusAddress {
    let digest = sha256(public_key);
    let mut address = [0; 20];
    for (to, from) in address.iter_mut().zip(digest) {
        *to = from;
    }
    address
}

/// Merkle root of a set of one validator.
pub(super) fn set_hash(public_key: &[u8], power: i64) -> Hash {
    let pub_key = PublicKey { sum: Some(public_key::Sum::Ed25519(public_key.to_vec())) };
    merkle::root(&[SimpleValidator { pub_key: Some(pub_key), power }.encode_to_vec()])
}

#[derive(Clone, PartialEq, Message)]
struct SimpleValidator {
    #[prost(message, optional, tag = "1")]
    pub_key: Option<PublicKey>,
    #[prost(int64, tag = "2")]
    power: i64,
}
