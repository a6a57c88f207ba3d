//! Own transactions are recognised in what a real node says of its blocks.

use akash_chain::query::BlockResults;
use akash_chain::tx::lane::LaneBlock;
use serde_json::{Value as Json, json};

use crate::query_support::{fixture_json, from_base64};

const PROVIDER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

fn block(results: &Json) -> LaneBlock {
    let results: BlockResults = serde_json::from_value(results.clone()).unwrap();
    LaneBlock::of(&results, 6, PROVIDER.parse().unwrap())
}

#[test]
fn a_bid_in_a_recorded_block_is_ours_and_a_tenants_transaction_is_not() {
    let bid = fixture_json("block_results-102.json");
    let bid = block(bid.get("result").unwrap_or(&bid));
    assert_eq!((bid.height, bid.txs.len()), (102, 1));
    assert_eq!(bid.txs[0].result.refusal, None);
    let order = fixture_json("block_results-101.json");
    let order = block(order.get("result").unwrap_or(&order));
    assert_eq!((order.height, order.txs.len()), (101, 0));
}

#[test]
fn a_transaction_that_failed_says_whose_it_was() {
    let recorded = fixture_json("tx-closebid-unknown.json");
    let found = find(&recorded, "tx_result").expect("the result in its block");
    let results = json!({"height": "7", "txs_results": [found], "finalize_block_events": []});
    let txs = block(&results).txs;
    assert_eq!(txs.len(), 1);
    assert_eq!(txs[0].sequence, recorded["sequence"].as_u64().unwrap());
    assert_eq!(hex::encode(&txs[0].signature), recorded["signature_hex"].as_str().unwrap());
    let refusal = txs[0].result.refusal.as_ref().unwrap();
    assert_eq!((refusal.codespace.as_str(), refusal.code), ("market", 6));
    assert!(!from_base64(&recorded["tx_raw_b64"]).is_empty());
}

/// The first value of this name, however deep.
fn find<'a>(json: &'a Json, name: &str) -> Option<&'a Json> {
    match json {
        Json::Object(map) => {
            map.get(name).or_else(|| map.values().find_map(|value| find(value, name)))
        }
        Json::Array(list) => list.iter().find_map(|value| find(value, name)),
        _ => None,
    }
}
