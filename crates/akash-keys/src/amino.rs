//! As much of the Amino encoding as keys of before Protobuf need.
//!
//! Amino writes a registered value as four bytes that its name hashes to, then its content;
//! structs are encoded like Protobuf messages.

use prost::Message;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{AccountKey, KeyError, Multisig, PublicKey, SecretKey};

const SECRET: &str = "tendermint/PrivKeySecp256k1";
const PUBLIC: &str = "tendermint/PubKeySecp256k1";
const PUBLIC_ED25519: &str = "tendermint/PubKeyEd25519";
const MULTISIG: &str = "tendermint/PubKeyMultisigThreshold";

/// The bytes before a value that is registered as `name`: of its hash, after zeros, three that
/// tell clashing names apart and are not written, then, after zeros, four.
pub(super) fn prefix(name: &str) -> [u8; 4] {
    let hash = Sha256::digest(name);
    let rest = hash.iter().skip_while(|byte| **byte == 0).skip(3);
    let mut rest = rest.skip_while(|byte| **byte == 0);
    std::array::from_fn(|_| rest.next().copied().unwrap_or_default())
}

/// A struct that both this and Protobuf encode alike.
#[derive(Clone, PartialEq, Message)]
struct Threshold {
    #[prost(uint32, tag = "1")]
    threshold: u32,
    #[prost(bytes = "vec", repeated, tag = "2")]
    keys: Vec<Vec<u8>>,
}

/// A secret key with its prefix, as exports hold it.
pub(super) fn encode_secret(key: &SecretKey) -> Zeroizing<Vec<u8>> {
    let bytes = key.to_bytes();
    let mut out = Zeroizing::new(Vec::with_capacity(4 + 1 + SecretKey::LEN));
    out.extend_from_slice(&prefix(SECRET));
    out.push(0x20);
    out.extend_from_slice(bytes.as_slice());
    out
}

/// Reads a secret key with its prefix.
pub(super) fn decode_secret(bytes: &[u8]) -> Result<SecretKey, AminoError> {
    let key = bytes.strip_prefix(&prefix(SECRET)).ok_or(AminoError::NotSecp256k1)?;
    let key = key.strip_prefix(&[0x20]).ok_or(AminoError::Malformed)?;
    SecretKey::from_bytes(key).map_err(AminoError::Key)
}

/// A public key with its prefix; `None` for kinds that Amino never had.
pub(super) fn encode_public(key: &AccountKey) -> Option<Vec<u8>> {
    let short = |name, bytes: &[u8]| {
        let length = u8::try_from(bytes.len()).ok()?;
        Some([&prefix(name)[..], &[length], bytes].concat())
    };
    match key {
        AccountKey::Secp256k1(key) => short(PUBLIC, &key.to_bytes()),
        AccountKey::Ed25519(bytes) => short(PUBLIC_ED25519, bytes),
        AccountKey::Multisig(Multisig { threshold, keys }) => {
            let keys: Option<Vec<_>> = keys.iter().map(encode_public).collect();
            let content = Threshold { threshold: *threshold, keys: keys? }.encode_to_vec();
            Some([&prefix(MULTISIG)[..], &content].concat())
        }
        AccountKey::Other(_) => None,
    }
}

/// Reads a public key with its prefix.
pub(super) fn decode_public(bytes: &[u8]) -> Result<AccountKey, AminoError> {
    if let Some(content) = bytes.strip_prefix(&prefix(MULTISIG)) {
        let content = Threshold::decode(content).map_err(|_| AminoError::Malformed)?;
        // Within a multisig only single keys: nothing ever wrote another.
        let keys: Result<_, _> = content.keys.iter().map(|key| decode_single(key)).collect();
        return Ok(AccountKey::Multisig(Multisig { threshold: content.threshold, keys: keys? }));
    }
    decode_single(bytes)
}

fn decode_single(bytes: &[u8]) -> Result<AccountKey, AminoError> {
    if let Some(rest) = bytes.strip_prefix(&prefix(PUBLIC)) {
        let key = rest.strip_prefix(&[0x21]).ok_or(AminoError::Malformed)?;
        return PublicKey::from_bytes(key).map(AccountKey::from).map_err(AminoError::Key);
    }
    let rest = bytes.strip_prefix(&prefix(PUBLIC_ED25519)).ok_or(AminoError::NotSecp256k1)?;
    let key = rest.strip_prefix(&[0x20]).and_then(|key| key.try_into().ok());
    key.map(AccountKey::Ed25519).ok_or(AminoError::Malformed)
}

/// Why bytes are not a key in Amino.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AminoError {
    #[error("the key is not of type secp256k1")]
    NotSecp256k1,
    #[error("the encoding of the key is damaged")]
    Malformed,
    #[error("the bytes of the key")]
    Key(#[source] KeyError),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn prefixes_are_those_in_the_tables_of_tendermint() {
        assert_eq!(prefix(SECRET), [0xe1, 0xb0, 0xf7, 0x9b]);
        assert_eq!(prefix(PUBLIC), [0xeb, 0x5a, 0xe9, 0x87]);
        assert_eq!(prefix(PUBLIC_ED25519), [0x16, 0x24, 0xde, 0x64]);
        assert_eq!(prefix(MULTISIG), [0x22, 0xc1, 0xf7, 0xe2]);
    }

    #[test]
    fn keys_decode_to_what_was_encoded() {
        let secret = SecretKey::from_bytes(&[7; 32]).unwrap();
        assert_eq!(decode_secret(&encode_secret(&secret)), Ok(secret.clone()));
        let single = AccountKey::from(secret.public_key());
        let several = AccountKey::Multisig(Multisig {
            threshold: 2,
            keys: vec![single.clone(), AccountKey::Ed25519([3; 32])],
        });
        for key in [single, several] {
            assert_eq!(decode_public(&encode_public(&key).unwrap()), Ok(key));
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(
            name in prop::sample::select(vec![SECRET, PUBLIC, PUBLIC_ED25519, MULTISIG, "x"]),
            content in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let bytes = [&prefix(name)[..], &content].concat();
            let _ = (decode_secret(&bytes), decode_public(&bytes), decode_secret(&content));
        }
    }
}
