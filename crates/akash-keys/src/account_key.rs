//! Public keys of every kind that an account can have.

use std::fmt;

use akash_proto::cosmos::crypto::ed25519;
use akash_proto::cosmos::crypto::multisig::LegacyAminoPubKey;
use akash_proto::{from_any, to_any};
use akash_types::Address;
use prost_types::Any;
use sha2::{Digest, Sha256};

use super::{PublicKey, amino};

/// The public key of an account, of whatever kind.
#[derive(Clone, PartialEq)]
pub enum AccountKey {
    /// A single key; the only kind that signs here.
    Secp256k1(PublicKey),
    /// A key of a validator's node.
    Ed25519([u8; 32]),
    /// Several keys of which some must sign.
    Multisig(Multisig),
    /// A kind this program does not know, as it was found.
    Other(Any),
}

/// Several keys, of which `threshold` must sign.
#[derive(Clone, Debug, PartialEq)]
pub struct Multisig {
    /// How many must sign.
    pub threshold: u32,
    /// The keys, in the order that makes the address.
    pub keys: Vec<AccountKey>,
}

impl AccountKey {
    /// Multisigs within multisigs are legal; deeper than this nobody means them.
    const MAX_DEPTH: usize = 4;

    /// Reads a packed key; one that cannot be read is [`AccountKey::Other`].
    pub fn from_any(any: &Any) -> Self {
        Self::known(any, Self::MAX_DEPTH).unwrap_or_else(|| Self::Other(any.clone()))
    }

    fn known(any: &Any, depth: usize) -> Option<Self> {
        if let Ok(key) = PublicKey::from_any(any) {
            return Some(Self::Secp256k1(key));
        }
        if let Ok(message) = from_any::<ed25519::PubKey>(any) {
            return Some(Self::Ed25519(message.key.try_into().ok()?));
        }
        let message: LegacyAminoPubKey = from_any(any).ok()?;
        let depth = depth.checked_sub(1)?;
        let keys: Option<Vec<_>> =
            message.public_keys.iter().map(|key| Self::known(key, depth)).collect();
        Some(Self::Multisig(Multisig { threshold: message.threshold, keys: keys? }))
    }

    /// Packs the key as the chain does.
    pub fn to_any(&self) -> Any {
        match self {
            Self::Secp256k1(key) => key.to_any(),
            Self::Ed25519(bytes) => to_any(&ed25519::PubKey { key: bytes.to_vec() }),
            Self::Multisig(Multisig { threshold, keys }) => to_any(&LegacyAminoPubKey {
                threshold: *threshold,
                public_keys: keys.iter().map(Self::to_any).collect(),
            }),
            Self::Other(any) => any.clone(),
        }
    }

    /// The account; `None` for kinds of which only the chain knows how to tell.
    pub fn address(&self) -> Option<Address> {
        let hashed = match self {
            Self::Secp256k1(key) => return Some(key.address()),
            Self::Ed25519(bytes) => Sha256::digest(bytes),
            Self::Multisig(_) => Sha256::digest(amino::encode_public(self)?),
            Self::Other(_) => return None,
        };
        Address::from_bytes(hashed.get(..20)?).ok()
    }

    pub fn type_url(&self) -> String {
        self.to_any().type_url
    }
}

impl From<PublicKey> for AccountKey {
    fn from(key: PublicKey) -> Self {
        Self::Secp256k1(key)
    }
}

impl fmt::Debug for AccountKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secp256k1(key) => fmt::Debug::fmt(key, f),
            Self::Ed25519(bytes) => write!(f, "Ed25519({})", hex::encode(bytes)),
            Self::Multisig(multisig) => fmt::Debug::fmt(multisig, f),
            Self::Other(any) => write!(f, "Other({:?})", any.type_url),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::SecretKey;
    use super::*;

    fn nested(depth: usize) -> AccountKey {
        let inner = SecretKey::from_bytes(&[7; 32]).unwrap().public_key().into();
        (0..depth)
            .fold(inner, |key, _| AccountKey::Multisig(Multisig { threshold: 1, keys: vec![key] }))
    }

    #[test]
    fn packed_keys_unpack_to_themselves_down_to_some_depth() {
        for key in [nested(0), nested(1), nested(3), AccountKey::Ed25519([9; 32])] {
            assert_eq!(AccountKey::from_any(&key.to_any()), key);
            assert!(key.address().is_some());
        }
        let deep = nested(200).to_any();
        assert_eq!(AccountKey::from_any(&deep), AccountKey::Other(deep));
    }

    #[test]
    fn a_key_of_an_unknown_kind_is_kept_and_has_no_address() {
        for any in [
            Any { type_url: "/ethermint.crypto.v1.PubKey".into(), value: vec![1, 2] },
            Any { type_url: "/cosmos.crypto.ed25519.PubKey".into(), value: vec![10, 1, 0] },
        ] {
            let key = AccountKey::from_any(&any);
            assert_eq!(key.address(), None);
            assert_eq!(key.to_any(), any);
        }
    }
}
