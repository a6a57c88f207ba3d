//! Blocks and what their transactions did, as CometBFT writes them in JSON.
//!
//! 64-bit numbers are text there, bytes base64, and what is zero may be left out.

use std::str::FromStr;
use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer};
use sha2::{Digest, Sha256};

/// A block.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "WireBlock")]
pub struct Block {
    /// Its hash, in upper-case hex.
    pub hash: String,
    /// Its height.
    pub height: u64,
    /// The time that validators agreed on.
    pub time: SystemTime,
    /// Which chain it is of.
    pub chain_id: String,
    /// Hash of the block before it, in upper-case hex; empty for the first.
    pub previous_hash: String,
    /// Its transactions, raw.
    pub txs: Vec<Vec<u8>>,
}

/// What a block did.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct BlockResults {
    /// Its height.
    #[serde(deserialize_with = "number")]
    pub height: u64,
    /// What its transactions did, in order.
    #[serde(rename = "txs_results", default, deserialize_with = "or_empty")]
    pub txs: Vec<TxResult>,
    /// What happened outside of transactions.
    #[serde(default, deserialize_with = "or_empty")]
    pub finalize_block_events: Vec<Event>,
}

/// What a transaction did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct TxResult {
    /// 0 if it succeeded.
    pub code: u32,
    /// Module that refused it; empty if it succeeded.
    pub codespace: String,
    /// Why it failed.
    pub log: String,
    /// What it could use at most.
    #[serde(deserialize_with = "number")]
    pub gas_wanted: u64,
    /// What it used.
    #[serde(deserialize_with = "number")]
    pub gas_used: u64,
    /// What happened, in order; of a failed one only the fee.
    #[serde(deserialize_with = "or_empty")]
    pub events: Vec<Event>,
    /// Encoded `TxMsgData`.
    #[serde(deserialize_with = "bytes")]
    pub data: Vec<u8>,
}

impl TxResult {
    /// Whether it succeeded.
    pub const fn is_ok(&self) -> bool {
        self.code == 0
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Event {
    /// What: of a typed event the full name of its message.
    #[serde(rename = "type")]
    pub kind: String,
    /// Details, in the order they were written.
    #[serde(default, deserialize_with = "attributes")]
    pub attributes: Vec<(String, String)>,
}

impl Event {
    /// The first detail called `key`.
    pub fn attribute(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

/// A transaction found in a block.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TxFound {
    /// Its name.
    pub hash: TxHash,
    /// Height of its block.
    #[serde(deserialize_with = "number")]
    pub height: u64,
    /// Its place in the block, from 0.
    #[serde(default)]
    pub index: u32,
    /// What it did.
    #[serde(rename = "tx_result")]
    pub result: TxResult,
    /// The raw transaction.
    #[serde(rename = "tx", deserialize_with = "bytes")]
    pub raw: Vec<u8>,
}

#[derive(Deserialize)]
struct WireBlock {
    block_id: WireBlockId,
    block: WireInner,
}

#[derive(Deserialize)]
struct WireBlockId {
    hash: String,
}

#[derive(Deserialize)]
struct WireInner {
    header: WireHeader,
    data: WireData,
}

#[derive(Deserialize)]
struct WireHeader {
    chain_id: String,
    #[serde(deserialize_with = "number")]
    height: u64,
    #[serde(deserialize_with = "moment")]
    time: SystemTime,
    last_block_id: WireBlockId,
}

#[derive(Deserialize)]
struct WireData {
    #[serde(default, deserialize_with = "or_empty")]
    txs: Vec<WireBytes>,
}

#[derive(Deserialize)]
struct WireBytes(#[serde(deserialize_with = "bytes")] Vec<u8>);

impl From<WireBlock> for Block {
    fn from(WireBlock { block_id, block: WireInner { header, data } }: WireBlock) -> Self {
        Self {
            hash: block_id.hash,
            height: header.height,
            time: header.time,
            chain_id: header.chain_id,
            previous_hash: header.last_block_id.hash,
            txs: data.txs.into_iter().map(|WireBytes(raw)| raw).collect(),
        }
    }
}

#[derive(Deserialize)]
struct WireAttribute {
    key: String,
    #[serde(default)]
    value: Option<String>,
}

/// A 64-bit number written as text.
pub(super) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = <std::borrow::Cow<'_, str>>::deserialize(deserializer)?;
    text.parse()
        .map_err(|_| serde::de::Error::custom(format!("{text:?} must be a whole number, as text")))
}

/// A moment as RFC 3339 writes it.
pub(super) fn moment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SystemTime, D::Error> {
    let text = <std::borrow::Cow<'_, str>>::deserialize(deserializer)?;
    let time = text.parse::<prost_types::Timestamp>().ok();
    time.and_then(|time| SystemTime::try_from(time).ok())
        .ok_or_else(|| serde::de::Error::custom(format!("{text:?} must be a time of RFC 3339")))
}

/// A list that may be `null`.
fn or_empty<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Bytes in base64, or `null`.
fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = <Option<std::borrow::Cow<'_, str>>>::deserialize(deserializer)?;
    STANDARD.decode(text.unwrap_or_default().as_bytes()).map_err(serde::de::Error::custom)
}

fn attributes<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<(String, String)>, D::Error> {
    let list: Vec<WireAttribute> = or_empty(deserializer)?;
    Ok(list.into_iter().map(|item| (item.key, item.value.unwrap_or_default())).collect())
}

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
