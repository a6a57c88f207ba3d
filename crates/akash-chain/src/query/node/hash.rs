//! The name of a transaction.

use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// SHA-256 of a raw transaction: its name on chain, written in upper-case hex.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display, derive_more::Debug,
)]
#[debug("TxHash({self})")]
#[display("{}", hex::encode_upper(self.0))]
pub struct TxHash([u8; 32]);

impl TxHash {
    /// The hash of a raw transaction.
    pub fn of(raw: &[u8]) -> Self {
        Self(Sha256::digest(raw).into())
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(super) fn to_base64(self) -> String {
        STANDARD.encode(self.0)
    }
}

impl From<[u8; 32]> for TxHash {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// Why a text is not the hash of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("transaction hash must be 64 hex digits")]
pub struct TxHashError;

impl FromStr for TxHash {
    type Err = TxHashError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| TxHashError)?;
        Ok(Self(bytes))
    }
}

impl<'de> serde::Deserialize<'de> for TxHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'_, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
