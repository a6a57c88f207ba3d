//! Transactions, their results and events.

use bytes::Bytes;
use serde::Serialize;

use crate::node::{Block, Checked, Hash, Proof, proof};
use crate::state::{Event, TxResult};

use super::{Base64, Hex, Text};

#[derive(Serialize)]
pub(crate) struct EventJson<'a> {
    r#type: &'a str,
    attributes: Vec<Attribute<'a>>,
}

#[derive(Serialize)]
struct Attribute<'a> {
    key: &'a str,
    value: &'a str,
    index: bool,
}

impl<'a> EventJson<'a> {
    pub(crate) fn of(event: &'a Event) -> Self {
        let attributes = event.attributes.iter();
        let attributes =
            attributes.map(|(key, value, index)| Attribute { key, value, index: *index });
        Self { r#type: &event.kind, attributes: attributes.collect() }
    }

    fn all(events: &'a [Event]) -> Vec<Self> {
        events.iter().map(Self::of).collect()
    }
}

#[derive(Serialize)]
pub(crate) struct TxResultJson<'a> {
    code: u32,
    data: Option<Base64<&'a [u8]>>,
    log: &'a str,
    info: &'static str,
    gas_wanted: Text<i64>,
    gas_used: Text<i64>,
    events: Vec<EventJson<'a>>,
    codespace: &'a str,
}

impl<'a> TxResultJson<'a> {
    pub(crate) fn of(result: &'a TxResult) -> Self {
        Self {
            code: result.code,
            data: Base64::or_null(&result.data),
            log: &result.log,
            info: "",
            gas_wanted: Text(result.gas_wanted),
            gas_used: Text(result.gas_used),
            events: EventJson::all(&result.events),
            codespace: &result.codespace,
        }
    }
}

/// A transaction in a frame to subscribers, where whatever is zero or empty is left out.
#[derive(Serialize)]
pub(crate) struct SparseResult<'a> {
    height: Text<u64>,
    #[serde(skip_serializing_if = "is_zero")]
    index: usize,
    tx: Base64<&'a [u8]>,
    result: Sparse<'a>,
}

#[derive(Serialize)]
struct Sparse<'a> {
    #[serde(skip_serializing_if = "is_code_zero")]
    code: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Base64<&'a [u8]>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    log: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    gas_wanted: Option<Text<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gas_used: Option<Text<i64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<EventJson<'a>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    codespace: &'a str,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

fn is_code_zero(number: &u32) -> bool {
    *number == 0
}

impl<'a> SparseResult<'a> {
    pub(crate) fn of(block: &Block, index: usize, tx: &'a [u8], result: &'a TxResult) -> Self {
        let gas = |gas: i64| (gas != 0).then_some(Text(gas));
        let result = Sparse {
            code: result.code,
            data: Base64::or_null(&result.data),
            log: &result.log,
            gas_wanted: gas(result.gas_wanted),
            gas_used: gas(result.gas_used),
            events: EventJson::all(&result.events),
            codespace: &result.codespace,
        };
        Self { height: Text(block.height()), index, tx: Base64(tx), result }
    }
}

/// The answer of `tx`.
#[derive(Serialize)]
pub(crate) struct FoundTx<'a> {
    hash: Hex<&'a [u8]>,
    height: Text<u64>,
    index: usize,
    tx_result: TxResultJson<'a>,
    tx: Base64<&'a [u8]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<TxProof<'a>>,
}

impl<'a> FoundTx<'a> {
    pub(crate) fn of(block: &'a Block, index: usize, prove: bool) -> Option<Self> {
        let (tx, hash, result) = block.tx(index)?;
        Some(Self {
            hash: Hex(hash),
            height: Text(block.height()),
            index,
            tx_result: TxResultJson::of(result),
            tx: Base64(tx),
            proof: if prove { TxProof::of(block, index) } else { None },
        })
    }
}

/// The answer of `tx_search`.
#[derive(Serialize)]
pub(crate) struct FoundTxs<'a> {
    pub(crate) txs: Vec<FoundTx<'a>>,
    pub(crate) total_count: Text<usize>,
}

/// What shows that a transaction is in a block.
#[derive(Serialize)]
pub(crate) struct TxProof<'a> {
    root_hash: Hex<&'a [u8]>,
    data: Base64<&'a [u8]>,
    proof: ProofJson,
}

#[derive(Serialize)]
struct ProofJson {
    total: Text<usize>,
    index: Text<usize>,
    leaf_hash: Base64<Hash>,
    aunts: Vec<Base64<Hash>>,
}

impl<'a> TxProof<'a> {
    fn of(block: &'a Block, index: usize) -> Option<Self> {
        let Proof { total, index, leaf, aunts } = proof(&block.tx_hashes, index)?;
        let proof = ProofJson {
            total: Text(total),
            index: Text(index),
            leaf_hash: Base64(leaf),
            aunts: aunts.into_iter().map(Base64).collect(),
        };
        let (tx, ..) = block.tx(index)?;
        Some(Self { root_hash: Hex(&block.header.data_hash), data: Base64(tx), proof })
    }
}

/// The answer of `broadcast_tx_sync` and `broadcast_tx_async`.
#[derive(Serialize)]
pub(crate) struct BroadcastTx<'a> {
    code: u32,
    data: Hex<&'a [u8]>,
    log: &'a str,
    codespace: &'a str,
    hash: Hex<Hash>,
}

impl<'a> BroadcastTx<'a> {
    pub(crate) fn of(checked: &'a Checked) -> Self {
        let TxResult { code, data, log, codespace, .. } = &checked.result;
        Self { code: *code, data: Hex(data), log, codespace, hash: Hex(checked.hash) }
    }
}

/// The answer of `broadcast_tx_commit`.
#[derive(Serialize)]
pub(crate) struct BroadcastCommit<'a> {
    pub(crate) check_tx: TxResultJson<'a>,
    pub(crate) tx_result: TxResultJson<'a>,
    pub(crate) hash: Hex<Hash>,
    pub(crate) height: Text<u64>,
}

/// The answer of `unconfirmed_txs` and `num_unconfirmed_txs`.
#[derive(Serialize)]
pub(crate) struct Unconfirmed {
    pub(crate) n_txs: Text<usize>,
    pub(crate) total: Text<usize>,
    pub(crate) total_bytes: Text<u64>,
    pub(crate) txs: Option<Vec<Base64<Bytes>>>,
}
