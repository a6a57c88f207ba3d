//! Transactions as the SDK shows them.

use akash_proto::cosmos::base::abci::v1beta1::TxResponse;
use akash_proto::cosmos::tx::v1beta1::Tx;
use akash_proto::tendermint::abci;
use prost::Message;
use prost_types::Any;

use crate::node::{Block, Checked, Hash, rfc3339_seconds, signed};
use crate::state::Event;

/// Of a transaction that was just sent.
pub(super) fn checked(checked: &Checked) -> TxResponse {
    let result = &checked.result;
    TxResponse {
        txhash: hex::encode_upper(checked.hash),
        codespace: result.codespace.clone(),
        code: result.code,
        data: hex::encode_upper(&result.data),
        raw_log: result.log.clone(),
        ..TxResponse::default()
    }
}

/// Of a transaction that the mempool would not look at.
pub(super) fn refused(hash: Hash, code: u32) -> TxResponse {
    TxResponse {
        txhash: hex::encode_upper(hash),
        codespace: "sdk".to_owned(),
        code,
        ..TxResponse::default()
    }
}

/// Of a transaction in a block: itself and what became of it.
pub(super) fn included(block: &Block, index: usize) -> Option<(Option<Tx>, TxResponse)> {
    let (tx, hash, result) = block.tx(index)?;
    let response = TxResponse {
        height: signed(block.height()),
        txhash: hex::encode_upper(hash),
        codespace: result.codespace.clone(),
        code: result.code,
        data: hex::encode_upper(&result.data),
        raw_log: result.log.clone(),
        logs: Vec::new(),
        info: String::new(),
        gas_wanted: result.gas_wanted,
        gas_used: result.gas_used,
        tx: Some(Any { type_url: "/cosmos.tx.v1beta1.Tx".to_owned(), value: tx.to_vec() }),
        timestamp: rfc3339_seconds(block.header.time_unix_nanos),
        events: result.events.iter().map(event).collect(),
    };
    // The bytes of a signed transaction read as the message with its parts.
    Some((Tx::decode(tx.as_ref()).ok(), response))
}

pub(super) fn event(event: &Event) -> abci::Event {
    let attributes = event.attributes.iter().map(|(key, value, index)| abci::EventAttribute {
        key: key.clone(),
        value: value.clone(),
        index: *index,
    });
    abci::Event { r#type: event.kind.clone(), attributes: attributes.collect() }
}
