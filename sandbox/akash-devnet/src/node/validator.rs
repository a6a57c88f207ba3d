//! The one validator, whose key follows from the name of the chain.

use akash_proto::tendermint::crypto::{PublicKey, public_key};
use ed25519_dalek::{Signer, SigningKey};
use prost::Message;

use super::header::ConsensusAddress;
use super::merkle::{self, Hash, sha256};

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
