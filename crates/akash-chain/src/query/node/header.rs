//! Headers of blocks, several at once.

use std::borrow::Cow;
use std::time::SystemTime;

use serde::{Deserialize, Deserializer};

use super::block::{moment, number};

/// Hash of a block: its name, written in upper-case hex.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display, derive_more::Debug,
)]
#[debug("BlockHash({self})")]
#[display("{}", hex::encode_upper(self.0))]
pub struct BlockHash(pub [u8; 32]);

/// What is said of a block without its transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "WireMeta")]
pub struct BlockHeader {
    /// Its height.
    pub height: u64,
    /// The time that validators agreed on.
    pub time: SystemTime,
    /// Its hash.
    pub hash: BlockHash,
    /// Hash of the block before it; the first has none.
    pub previous: Option<BlockHash>,
}

/// The answer of `blockchain`: newest first.
#[derive(Deserialize)]
pub(super) struct Headers {
    pub(super) block_metas: Vec<BlockHeader>,
}

#[derive(Deserialize)]
struct WireMeta {
    block_id: WireId,
    header: WireHeader,
}

#[derive(Deserialize)]
struct WireId {
    #[serde(deserialize_with = "hash")]
    hash: BlockHash,
}

#[derive(Deserialize)]
struct WireHeader {
    #[serde(deserialize_with = "number")]
    height: u64,
    #[serde(deserialize_with = "moment")]
    time: SystemTime,
    last_block_id: WirePrevious,
}

#[derive(Deserialize)]
struct WirePrevious {
    #[serde(deserialize_with = "hash_or_none")]
    hash: Option<BlockHash>,
}

impl From<WireMeta> for BlockHeader {
    fn from(WireMeta { block_id, header }: WireMeta) -> Self {
        Self {
            height: header.height,
            time: header.time,
            hash: block_id.hash,
            previous: header.last_block_id.hash,
        }
    }
}

/// A hash, or an empty text where there is no block.
pub(super) fn hash_or_none<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BlockHash>, D::Error> {
    let text = <Cow<'_, str>>::deserialize(deserializer)?;
    if text.is_empty() {
        return Ok(None);
    }
    let mut bytes = [0; 32];
    hex::decode_to_slice(text.as_bytes(), &mut bytes)
        .map_err(|_| serde::de::Error::custom(format!("{text:?} must be 64 hex digits")))?;
    Ok(Some(BlockHash(bytes)))
}

fn hash<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BlockHash, D::Error> {
    let found = hash_or_none(deserializer)?;
    found.ok_or_else(|| serde::de::Error::custom("a block must have a hash"))
}
