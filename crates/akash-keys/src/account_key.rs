//! Public keys of every kind that an account can have.

use std::fmt;

use akash_proto::cosmos::crypto::ed25519;
use akash_proto::cosmos::crypto::multisig::LegacyAminoPubKey;
use akash_proto::cosmos::crypto::secp256k1::PubKey;
use akash_proto::{from_any, to_any};
use akash_types::Address;
use k256::ecdsa::signature::Verifier;
use k256::ecdsa::{Signature, VerifyingKey};
use prost_types::Any;
use ripemd::Ripemd160;
use sha2::{Digest, Sha256};

use super::{KeyError, amino};

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

/// A secp256k1 public key.
#[derive(Clone, Copy, PartialEq, Eq, derive_more::Debug)]
#[debug("PublicKey({})", hex::encode(self.to_bytes()))]
pub struct PublicKey {
    key: VerifyingKey,
    address: Address,
}

impl PublicKey {
    /// Length of the compressed form in bytes.
    pub const LEN: usize = 33;

    pub(super) fn of(key: VerifyingKey) -> Result<Self, KeyError> {
        let hash = Ripemd160::digest(Sha256::digest(key.to_sec1_point(true).as_bytes()));
        let address = Address::from_bytes(&hash).map_err(KeyError::Address)?;
        Ok(Self { key, address })
    }

    /// The key with this compressed form.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, KeyError> {
        if bytes.len() != Self::LEN {
            return Err(KeyError::PublicLength { got: bytes.len() });
        }
        Self::of(VerifyingKey::from_sec1_bytes(bytes).map_err(|_| KeyError::PublicPoint)?)
    }

    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        for (to, from) in bytes.iter_mut().zip(self.key.to_sec1_point(true).as_bytes()) {
            *to = *from;
        }
        bytes
    }

    /// The account: RIPEMD-160 of SHA-256 of the compressed form.
    pub const fn address(&self) -> Address {
        self.address
    }

    /// Whether `signature` is R and S of this key over SHA-256 of `message`.
    ///
    /// S in the upper half is refused, as the chain does: else anyone could make a second valid
    /// signature out of the first.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        Signature::from_slice(signature).is_ok_and(|signature| {
            signature.normalize_s() == signature && self.key.verify(message, &signature).is_ok()
        })
    }

    /// As `/cosmos.crypto.secp256k1.PubKey`.
    pub fn to_any(&self) -> Any {
        to_any(&PubKey { key: self.to_bytes().to_vec() })
    }

    /// From `/cosmos.crypto.secp256k1.PubKey`.
    pub fn from_any(any: &Any) -> Result<Self, KeyError> {
        let message: PubKey = from_any(any).map_err(KeyError::Any)?;
        Self::from_bytes(&message.key)
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

    #[test]
    fn what_is_not_a_compressed_point_is_refused() {
        let good = SecretKey::from_bytes(&[7; 32]).unwrap().public_key().to_bytes();
        let mut bad_tag = good;
        bad_tag[0] = 4;
        for (bytes, expected) in [
            (&[][..], KeyError::PublicLength { got: 0 }),
            (&good[..32], KeyError::PublicLength { got: 32 }),
            (&bad_tag[..], KeyError::PublicPoint),
            (&[0xff; 33][..], KeyError::PublicPoint),
        ] {
            assert_eq!(PublicKey::from_bytes(bytes), Err(expected));
        }
        assert_eq!(PublicKey::from_bytes(&good).unwrap().to_bytes(), good);
    }

    #[test]
    fn the_other_signature_of_the_pair_is_refused() {
        let key = SecretKey::from_bytes(&[7; 32]).unwrap();
        let low = Signature::from_slice(&key.sign(b"m")).unwrap();
        let (r, s) = low.split_scalars();
        let high = Signature::from_scalars(r, -s).unwrap();
        assert!(key.public_key().verify(b"m", &low.to_bytes()));
        assert!(!key.public_key().verify(b"m", &high.to_bytes()));
        assert!(!key.public_key().verify(b"m", b"short"));
    }

    #[test]
    fn a_packed_key_unpacks_to_itself_and_other_messages_do_not() {
        let key = SecretKey::from_bytes(&[7; 32]).unwrap().public_key();
        let mut any = key.to_any();
        assert_eq!(any.type_url, "/cosmos.crypto.secp256k1.PubKey");
        assert_eq!(PublicKey::from_any(&any), Ok(key));
        any.type_url = "/cosmos.crypto.ed25519.PubKey".to_owned();
        assert!(matches!(PublicKey::from_any(&any), Err(KeyError::Any(_))));
    }
}
