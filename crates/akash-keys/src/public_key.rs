//! The public half of an account.

use akash_proto::cosmos::crypto::secp256k1::PubKey;
use akash_proto::{from_any, to_any};
use akash_types::Address;
use k256::ecdsa::signature::Verifier;
use k256::ecdsa::{Signature, VerifyingKey};
use prost_types::Any;
use ripemd::Ripemd160;
use sha2::{Digest, Sha256};

use super::KeyError;

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
