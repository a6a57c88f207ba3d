//! Answers as JSON, field for field as CometBFT 0.38 writes them: numbers of 64 bits are texts,
//! digests are hexadecimal in upper case, other bytes are base64.

mod block;
mod info;
mod tx;

use std::fmt::Display;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Serialize, Serializer};

pub(crate) use block::{
    BlockIdJson, BlockJson, BlockMeta, BlockResult, BlockResults, HeaderJson, SignedHeader,
};
pub(crate) use info::{
    AbciInfo, AbciQuery, ConsensusParamsJson, NetInfo, NodeInfoJson, ParamUpdates, Status,
    SyncInfo, ValidatorInfo, Validators,
};
pub(crate) use tx::{
    BroadcastCommit, BroadcastTx, EventJson, FoundTx, FoundTxs, SparseResult, TxResultJson,
    Unconfirmed,
};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<T>(pub(crate) T);

/// Bytes as hexadecimal in upper case.
#[derive(Clone, Debug)]
pub(crate) struct Hex<T>(pub(crate) T);

/// Bytes as base64.
#[derive(Clone, Debug)]
pub(crate) struct Base64<T>(pub(crate) T);

impl<T> Base64<T>
where
    T: AsRef<[u8]>,
{
    /// The bytes, or `None` where there are none: Go writes those as null.
    pub(crate) fn or_null(bytes: T) -> Option<Self> {
        (!bytes.as_ref().is_empty()).then_some(Self(bytes))
    }
}

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<T: AsRef<[u8]>> Serialize for Hex<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode_upper(&self.0))
    }
}

impl<T: AsRef<[u8]>> Serialize for Base64<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_STANDARD.encode(&self.0))
    }
}
