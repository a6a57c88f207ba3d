//! A devnet block through the follower's own decoder.

use akash_chain::follow::BlockEffects;
use akash_chain::follow::decode::read_results;
use akash_chain::query::{BlockHash, BlockHeader};
use akash_chain::tx::Refusal;
use akash_chain::tx::lane::{LaneBlock, OurTx, TxOutcome};
use akash_devnet::node::Block;
use akash_devnet::state::Event;
use akash_types::Address;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::time::{Duration, UNIX_EPOCH};

/// What the block did, as the follower would have read it from a node.
pub(super) fn effects(block: &Block) -> BlockEffects {
    let txs: Vec<Value> = block
        .results
        .iter()
        .map(|result| {
            json!({
                "code": result.code, "codespace": result.codespace, "log": result.log,
                "gas_wanted": result.gas_wanted.to_string(),
                "gas_used": result.gas_used.to_string(),
                "events": events(&result.events),
            })
        })
        .collect();
    let height = block.height().to_string();
    let results = json!({
        "height": height, "txs_results": txs, "finalize_block_events": events(&block.events),
    });
    read_results(&results.to_string()).map(|(_, effects)| effects).unwrap_or_default()
}

/// Only events that anybody reads: the decoder skips all others.
fn events(events: &[Event]) -> Vec<Value> {
    let read = events.iter().filter(|event| event.kind == "tx" || event.kind.starts_with("akash."));
    let value = |event: &Event| {
        let attributes: Vec<Value> = event
            .attributes
            .iter()
            .map(|(key, value, _)| json!({"key": key, "value": value}))
            .collect();
        json!({"type": event.kind, "attributes": attributes})
    };
    read.map(value).collect()
}

/// The header as a node gives it.
pub(super) fn header(block: &Block) -> BlockHeader {
    let nanos = u64::try_from(block.header.time_unix_nanos).unwrap_or_default();
    BlockHeader {
        height: block.height(),
        time: UNIX_EPOCH + Duration::from_nanos(nanos),
        hash: BlockHash(block.id.hash),
        previous: block.header.last_block_id.map(|id| BlockHash(id.hash)),
    }
}

/// The block as far as the lane of an account is concerned.
pub(super) fn lane_block(
    header: &BlockHeader,
    effects: &BlockEffects,
    account: Address,
) -> LaneBlock {
    let txs = effects.txs.iter().filter_map(|tx| {
        let refusal = (!tx.is_ok()).then(|| Refusal {
            codespace: tx.codespace.clone(),
            code: tx.code,
            log: tx.log.clone(),
        });
        let signature = tx.signatures.first().and_then(|text| BASE64_STANDARD.decode(text).ok());
        Some(OurTx {
            sequence: tx.sequence_of(&account)?,
            signature: signature.unwrap_or_default(),
            result: TxOutcome { refusal, gas_used: tx.gas_used },
        })
    });
    let unix_time = header.time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    LaneBlock { height: header.height, unix_time, txs: txs.collect() }
}
