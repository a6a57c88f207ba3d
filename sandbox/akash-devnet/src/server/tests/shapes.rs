//! Answers have the shape of recorded ones: the same keys, values of the same type.

use serde_json::{Value, json};

use super::support::*;
use crate::node::tests::fake::tx;

/// Compares shapes; where a list is empty on one side there is nothing to compare.
fn same_shape(recorded: &Value, ours: &Value, at: &str) {
    match (recorded, ours) {
        (Value::Object(recorded), Value::Object(ours)) => {
            let keys = |map: &serde_json::Map<String, Value>| -> Vec<String> {
                map.keys().cloned().collect()
            };
            assert_eq!(keys(ours), keys(recorded), "keys at {at}");
            for (key, value) in recorded {
                same_shape(value, &ours[key], &format!("{at}.{key}"));
            }
        }
        (Value::Array(recorded), Value::Array(ours)) => {
            if let (Some(recorded), Some(ours)) = (recorded.first(), ours.first()) {
                same_shape(recorded, ours, &format!("{at}[]"));
            }
        }
        // What happened differs; how it is told does not.
        (Value::String(_), Value::String(_)) if at.contains("attributes[]") => {}
        (Value::String(recorded), Value::String(ours)) => {
            // Digests are digests, numbers numbers.
            let is_number = |text: &str| text.parse::<i64>().is_ok();
            assert_eq!(is_number(ours), is_number(recorded), "{ours:?} at {at}, was {recorded:?}");
            let digest = recorded.len() == 64 && recorded.bytes().all(|b| b.is_ascii_hexdigit());
            assert!(!digest || ours.len() == 64, "{ours:?} at {at}");
        }
        _ => assert_eq!(
            std::mem::discriminant(recorded),
            std::mem::discriminant(ours),
            "{ours} at {at}, was {recorded}"
        ),
    }
}

#[tokio::test]
async fn answers_over_http_have_the_recorded_shapes() {
    let devnet = start().await;
    for sequence in 0..2 {
        let tx = base64(&tx("a", sequence, 10));
        result(&devnet, "broadcast_tx_sync", json!({"tx": tx})).await;
        devnet.produce_block(None).await.unwrap();
    }
    for (name, path) in [
        ("rpc-status.json", "/status"),
        ("rpc-abci_info.json", "/abci_info"),
        ("block-101.json", "/block?height=3"),
        ("block_results-101.json", "/block_results?height=3"),
        ("goprovider-block-2302.json", "/block"),
    ] {
        let (status, answer) = get(&devnet, path).await;
        assert_eq!(status, 200);
        let mut recorded = recorded(name);
        // The tiny state machine has its own events.
        let mut answer = answer;
        for value in [&mut recorded, &mut answer] {
            if let Some(results) = value["result"].get_mut("txs_results") {
                results[0]["events"] = json!([results[0]["events"][0]]);
            }
        }
        same_shape(&recorded, &answer, name);
    }
    let tx = recorded("tx-createbid-ok.json");
    let hash = result(&devnet, "tx_search", json!({"query": "tx.height=3", "prove": false})).await;
    let hash = hash["txs"][0]["hash"].as_str().unwrap().to_owned();
    let bytes = base64(&hex::decode(hash).unwrap());
    let found = call(&devnet, "tx", json!({"hash": bytes, "prove": false})).await;
    same_shape(&tx["tx"], &found, "tx");
    let again = base64(&crate::node::tests::fake::tx("a", 2, 10));
    let sent = call(&devnet, "broadcast_tx_sync", json!({"tx": again})).await;
    same_shape(&tx["broadcast_tx_sync"], &sent, "broadcast_tx_sync");
    let again = call(&devnet, "broadcast_tx_sync", json!({"tx": again})).await;
    assert_eq!(again, recorded("broadcast-same-tx-again.json"));
    let unknown = base64(&[0xab; 32]);
    let unknown = call(&devnet, "tx", json!({"hash": unknown, "prove": true})).await;
    assert_eq!(unknown, recorded("rpc-tx-notfound.json"));
}

#[tokio::test]
async fn answers_of_abci_query_have_the_recorded_shapes() {
    let devnet = start().await;
    for line in recorded_text("grpc.jsonl").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let path = match line["name"].as_str().unwrap() {
            "balance" => "/fake.Query/Height",
            "deployment_unknown" => "/fake.Query/Missing",
            "unknown_method" => "/fake.Query/Nope",
            "akash_discovery" | "node_info" | "latest_block" => line["method"].as_str().unwrap(),
            _ => continue,
        };
        let answer = call(&devnet, "abci_query", json!({"path": path, "data": ""})).await;
        same_shape(&line["abci_query"], &answer, path);
        let (recorded, ours) =
            (&line["abci_query"]["result"]["response"], &answer["result"]["response"]);
        assert_eq!(recorded["code"], ours["code"], "{path}");
        assert_eq!(recorded["codespace"], ours["codespace"], "{path}");
        assert_eq!(recorded["height"] == "0", ours["height"] == "0", "{path}");
    }
}

#[tokio::test]
async fn frames_have_the_recorded_shapes() {
    let devnet = start().await;
    let mut socket = WebSocket::connect(&devnet).await;
    for (id, kind) in [(1, "Tx"), (2, "NewBlockHeader"), (3, "NewBlockEvents")] {
        socket.subscribe(id, &format!("tm.event='{kind}'")).await;
    }
    let bytes = base64(&tx("a", 0, 10));
    result(&devnet, "broadcast_tx_sync", json!({"tx": bytes})).await;
    devnet.produce_block(None).await.unwrap();
    let mut ours = vec![socket.next().await, socket.next().await, socket.next().await];
    ours.sort_by_key(|frame| frame["id"].as_i64());

    let text = recorded_text("websocket.jsonl");
    let frames: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for mut frame in ours {
        let found = frames
            .iter()
            .find(|recorded| recorded["id"] == frame["id"] && recorded["result"] != json!({}));
        let mut recorded = found.unwrap().clone();
        for value in [&mut recorded, &mut frame] {
            // Which tags there are depends on what happened.
            value["result"]["events"] = json!({"tm.event": value["result"]["events"]["tm.event"]});
            if let Some(result) = value["result"]["data"]["value"].get_mut("TxResult") {
                result["result"]["events"] = json!([result["result"]["events"][0]]);
            }
        }
        same_shape(&recorded, &frame, "frame");
    }
}
