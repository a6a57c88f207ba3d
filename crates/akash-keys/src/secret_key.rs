//! The secret half of an account.

use akash_proto::cosmos::crypto::secp256k1::PrivKey;
use akash_proto::{AnyError, from_any, to_any};
use akash_types::AddressError;
use k256::ecdsa::signature::Signer;
use k256::ecdsa::{Signature, SigningKey};
use prost_types::Any;
use zeroize::{Zeroize, Zeroizing};

use super::PublicKey;

/// A secp256k1 secret key: what signs for an account. Wiped when dropped.
#[derive(Clone, derive_more::Debug)]
#[debug("SecretKey(of {})", self.public.address())]
pub struct SecretKey {
    key: SigningKey,
    public: PublicKey,
}

impl SecretKey {
    /// Length in bytes.
    pub const LEN: usize = 32;

    /// The key with these 32 bytes, most significant first.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, KeyError> {
        if bytes.len() != Self::LEN {
            return Err(KeyError::SecretLength { got: bytes.len() });
        }
        let key = SigningKey::from_slice(bytes).map_err(|_| KeyError::SecretRange)?;
        let public = PublicKey::of(*key.verifying_key())?;
        Ok(Self { key, public })
    }

    /// The key with these 64 hexadecimal digits, with or without `0x` and surrounding blanks.
    pub fn from_hex(text: &str) -> Result<Self, KeyError> {
        let digits = text.trim();
        let digits = digits.strip_prefix("0x").unwrap_or(digits);
        let bytes = Zeroizing::new(hex::decode(digits).map_err(|_| KeyError::SecretHex)?);
        Self::from_bytes(&bytes)
    }

    /// Its 32 bytes.
    pub fn to_bytes(&self) -> Zeroizing<[u8; Self::LEN]> {
        Zeroizing::new(self.key.to_bytes().into())
    }

    /// Its 64 hexadecimal digits, as `keys export --unarmored-hex` prints them.
    pub fn to_hex(&self) -> Zeroizing<String> {
        Zeroizing::new(hex::encode(self.to_bytes().as_slice()))
    }

    pub const fn public_key(&self) -> PublicKey {
        self.public
    }

    /// Signature over SHA-256 of `message`: R and S of 32 bytes each, S in the lower half.
    ///
    /// The same message always has the same signature (RFC 6979).
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        let signature: Signature = self.key.sign(message);
        signature.to_bytes().into()
    }

    /// As `/cosmos.crypto.secp256k1.PrivKey`. The caller wipes it.
    pub(crate) fn to_any(&self) -> Any {
        let mut message = PrivKey { key: self.to_bytes().to_vec() };
        let any = to_any(&message);
        message.key.zeroize();
        any
    }

    /// From `/cosmos.crypto.secp256k1.PrivKey`.
    pub fn from_any(any: &Any) -> Result<Self, KeyError> {
        let mut message: PrivKey = from_any(any).map_err(KeyError::Any)?;
        let key = Self::from_bytes(&message.key);
        message.key.zeroize();
        key
    }
}

impl PartialEq for SecretKey {
    fn eq(&self, other: &Self) -> bool {
        // One secret, one public key: there is nothing to learn from how long this takes.
        self.public == other.public
    }
}

impl Eq for SecretKey {}

/// Why something is not a key of this kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("a secret key has {} bytes, got {got}", SecretKey::LEN)]
    SecretLength {
        /// How many there were.
        got: usize,
    },
    #[error("these bytes are not a secp256k1 secret key")]
    SecretRange,
    #[error("a secret key in hexadecimal has {} digits", 2 * SecretKey::LEN)]
    SecretHex,
    #[error("a compressed public key has {} bytes, got {got}", PublicKey::LEN)]
    PublicLength {
        /// How many there were.
        got: usize,
    },
    #[error("these bytes are not a compressed secp256k1 public key")]
    PublicPoint,
    #[error("the address of a key")]
    Address(#[source] AddressError),
    #[error("reading a packed key")]
    Any(#[source] AnyError),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ORDER: &str = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";

    #[test]
    fn what_is_not_a_secret_key_is_refused_without_being_shown() {
        let almost = "3ad592b047203820c0d5c09db22a02e05926ab6c88c8c8aed41dd37623d6d6";
        let not_hex = format!("{almost}zz");
        for (text, expected) in [
            ("", KeyError::SecretLength { got: 0 }),
            (almost, KeyError::SecretLength { got: 31 }),
            (not_hex.as_str(), KeyError::SecretHex),
            (&"0".repeat(64), KeyError::SecretRange),
            (ORDER, KeyError::SecretRange),
            (&"f".repeat(64), KeyError::SecretRange),
        ] {
            let error = SecretKey::from_hex(text).unwrap_err();
            assert_eq!(error, expected);
            assert!(!format!("{error} {error:?}").contains("3ad592"), "{error:?}");
        }
    }

    #[test]
    fn debug_shows_the_account_only() {
        let key = SecretKey::from_bytes(&[0xab; 32]).unwrap();
        let shown = format!("{key:?}");
        assert!(shown.starts_with("SecretKey(of akash1"), "{shown}");
        assert!(!shown.contains("171") && !shown.contains("abab"), "{shown}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn a_key_survives_every_form_and_its_signatures_verify(
            bytes in prop::array::uniform32(any::<u8>()),
            message in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let Ok(key) = SecretKey::from_bytes(&bytes) else { return Ok(()) };
            prop_assert_eq!(&key.to_bytes()[..], &bytes[..]);
            prop_assert_eq!(&SecretKey::from_hex(&format!(" 0x{}\n", *key.to_hex())).unwrap(), &key);
            prop_assert_eq!(&SecretKey::from_any(&key.to_any()).unwrap(), &key);
            let signature = key.sign(&message);
            prop_assert_eq!(signature, key.sign(&message));
            prop_assert!(key.public_key().verify(&message, &signature));
            let other = [&message[..], &[0]].concat();
            prop_assert!(!key.public_key().verify(&other, &signature));
        }
    }
}
