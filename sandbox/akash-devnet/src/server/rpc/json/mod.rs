//! Answers as JSON, field for field as CometBFT 0.38 writes them: numbers of 64 bits are texts,
//! digests are hexadecimal in upper case, other bytes are base64.

mod block;
mod info;
mod text;
mod tx;

pub(crate) use block::{
    BlockIdJson, BlockJson, BlockMeta, BlockResult, BlockResults, HeaderJson, SignedHeader,
};
pub(crate) use info::{
    AbciInfo, AbciQuery, ConsensusParamsJson, NetInfo, NodeInfoJson, ParamUpdates, Status,
    SyncInfo, ValidatorInfo, Validators,
};
pub(crate) use text::{Base64, Hex, Text};
pub(crate) use tx::{
    BroadcastCommit, BroadcastTx, EventJson, FoundTx, FoundTxs, SparseResult, TxResultJson,
    Unconfirmed,
};
