//! Simulating, broadcasting and waiting, against what a node was recorded to say.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use akash_chain::query::{Node, Query, Unavailable};
use akash_chain::transport::Limits;
use akash_chain::tx::{
    Broadcast, BroadcastError, BroadcastMode, BuildError, Fee, FeeRule, GasAdjustment, RefusalKind,
    SequenceMismatch, SignedTx, SimulateError, TxPlan, Unsigned, Wait, WaitError, broadcast,
    simulate, wait_for,
};
use akash_proto::cosmos::tx::v1beta1::{AuthInfo, SimulateRequest, TxBody, TxRaw};
use prost::Message as _;
use serde_json::{Value as Json, json};

use crate::query_support::{Call, FakeNode, Say, fixture_json, from_base64};
use crate::tx_support::{Key, message};

fn recorded_tx(file: &str) -> (Json, SignedTx) {
    let recorded = fixture_json(file);
    let signed = SignedTx::from_raw(from_base64(&recorded["tx_raw_b64"]));
    (recorded, signed)
}

const QUICK: Wait = Wait { every: Duration::from_millis(10), at_most: Duration::from_millis(200) };

/// A node that says this to every JSON-RPC call.
async fn says(json: Json) -> FakeNode {
    FakeNode::start(move |_| Say::Json(json.clone())).await
}

fn rpc_error(data: &str) -> Json {
    json!({"error": {"code": -32603, "message": "Internal error", "data": data}})
}

#[tokio::test]
async fn recorded_simulations_are_read_by_both_transports() {
    for file in [
        "tx-createbid-ok.json",
        "tx-createbid-batch50.json",
        "tx-createbid-duplicate-sim-and-deliver.json",
        "tx-createbid-unknown-order.json",
        "tx-wrong-sequence-high.json",
    ] {
        let (recorded, signed) = recorded_tx(file);
        let said = recorded["simulate"].clone();
        let node = FakeNode::start(move |call| {
            let (path, request) = call.query();
            assert_eq!(path, "/cosmos.tx.v1beta1.Service/Simulate");
            let request = SimulateRequest::decode(request.as_slice()).unwrap();
            assert!(!request.tx_bytes.is_empty());
            match (call, said["code"] == 0) {
                (_, true) => Say::answer(call, from_base64(&said["response_b64"]), 9),
                (Call::Grpc { .. }, false) => {
                    let message = said["message"].as_str().unwrap().to_owned();
                    Say::GrpcStatus { code: 2, message }
                }
                (Call::Rpc { .. }, false) => {
                    let text = said["message"].as_str().unwrap();
                    let log = format!("rpc error: code = Unknown desc = {text}: unknown request");
                    let response = json!({"code": 6, "codespace": "sdk", "log": log});
                    Say::Json(json!({"result": {"response": response}}))
                }
            }
        })
        .await;
        for connection in node.both() {
            let result = simulate(&Query::new(connection), signed.raw().to_vec()).await;
            match file {
                "tx-createbid-ok.json" => {
                    // With fee and signature in it, simulation uses what the block used.
                    assert_eq!(result.unwrap().gas_used, 123_871);
                }
                "tx-createbid-batch50.json" => assert_eq!(result.unwrap().gas_used, 3_965_290),
                "tx-wrong-sequence-high.json" => {
                    let Err(SimulateError::Refused(refusal)) = result else { panic!("{file}") };
                    let mismatch = SequenceMismatch { expected: 9, got: 14 };
                    assert_eq!(refusal.sequence_mismatch, Some(mismatch));
                    assert_eq!(refusal.message_index, None);
                }
                _ => {
                    let Err(SimulateError::Refused(refusal)) = result else { panic!("{file}") };
                    assert_eq!(refusal.message_index, Some(0), "{file}");
                    assert!(refusal.gas_used.unwrap() > 40_000, "{file}");
                    assert!(!refusal.text.contains("baseapp.go"), "{file}: {refusal}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_node_that_cannot_simulate_is_no_refusal() {
    let node = says(rpc_error("database closed")).await;
    let [_, abci] = node.both();
    let error = simulate(&Query::new(abci), vec![1]).await.unwrap_err();
    assert!(matches!(error, SimulateError::Query(error) if error.is_transient()));
}

#[tokio::test]
async fn recorded_answers_to_sync_broadcasts_are_read() {
    for (file, kind) in [
        ("tx-createbid-ok.json", None),
        // The market's refusal is only seen in the block.
        ("tx-createbid-unknown-order.json", None),
        ("tx-no-fee.json", Some(RefusalKind::InsufficientFee)),
        ("tx-insufficient-fee.json", Some(RefusalKind::InsufficientFee)),
        ("tx-bad-signature.json", Some(RefusalKind::BadSignature)),
        ("tx-wrong-chain-id.json", Some(RefusalKind::BadSignature)),
        ("tx-wrong-sequence-high.json", Some(RefusalKind::WrongSequence)),
    ] {
        let (recorded, signed) = recorded_tx(file);
        let node = says(recorded["broadcast_tx_sync"].clone()).await;
        let result =
            broadcast(&Node::new(node.rpc()), &signed, BroadcastMode::Sync, QUICK).await.unwrap();
        let refusal = result.refusal();
        assert_eq!(refusal.as_ref().map(|refusal| refusal.kind()), kind, "{file}");
        assert_eq!(matches!(result, Broadcast::Pending), kind.is_none(), "{file}");
        if kind == Some(RefusalKind::WrongSequence) {
            let mismatch = SequenceMismatch { expected: 9, got: 14 };
            assert_eq!(refusal.unwrap().sequence_mismatch(), Some(mismatch));
        }
        let [Call::Rpc { method, params, .. }] = &node.asked()[..] else { panic!("{file}") };
        assert_eq!(method, "broadcast_tx_sync");
        assert_eq!(params["tx"], recorded["tx_raw_b64"], "{file}");
    }
}

#[tokio::test]
async fn rpc_errors_that_stand_for_codes_are_refusals() {
    let (_, signed) = recorded_tx("tx-createbid-ok.json");
    let sequence = "error on broadcastTxCommit: account sequence mismatch, expected 5, got 4";
    for (answer, kind) in [
        (fixture_json("broadcast-same-tx-again.json"), RefusalKind::InCache),
        (rpc_error("mempool is full: number of txs 5000"), RefusalKind::MempoolFull),
        (rpc_error("Tx too large. Max size is 1048576"), RefusalKind::TooLarge),
        (rpc_error(sequence), RefusalKind::WrongSequence),
    ] {
        let node = says(answer).await;
        for mode in [BroadcastMode::Sync, BroadcastMode::Async, BroadcastMode::Commit] {
            let result = broadcast(&Node::new(node.rpc()), &signed, mode, QUICK).await.unwrap();
            let Broadcast::Refused(refusal) = result else { panic!("{kind:?}") };
            assert_eq!((refusal.kind(), refusal.codespace.as_str()), (kind, "sdk"));
        }
    }
}

#[tokio::test]
async fn a_commit_tells_what_happened_in_the_block_or_before_it() {
    let (recorded, signed) = recorded_tx("tx-createbid-unknown-order.json");
    let hash = recorded["tx_hash"].clone();
    let delivered = recorded["tx"]["result"].clone();
    let commit = json!({"result": {
        "check_tx": {"code": 0, "log": "", "codespace": ""},
        "tx_result": delivered["tx_result"], "hash": hash, "height": delivered["height"],
    }});
    let node = says(commit).await;
    let result =
        broadcast(&Node::new(node.rpc()), &signed, BroadcastMode::Commit, QUICK).await.unwrap();
    let refusal = result.refusal().unwrap();
    assert_eq!((refusal.codespace.as_str(), refusal.code), ("market", 15));
    assert_eq!(refusal.message_index(), Some(0));
    assert!(matches!(result, Broadcast::Delivered { height: 200.., .. }), "{result:?}");

    let refused = json!({"result": {
        "check_tx": {"code": 13, "log": "insufficient fees", "codespace": "sdk"},
        "tx_result": {"code": 0, "data": null, "log": ""}, "hash": hash, "height": "0",
    }});
    let node = says(refused).await;
    let result =
        broadcast(&Node::new(node.rpc()), &signed, BroadcastMode::Commit, QUICK).await.unwrap();
    assert!(matches!(result, Broadcast::Refused(_)), "{result:?}");
}

#[tokio::test]
async fn a_commit_that_times_out_at_the_node_is_looked_for() {
    let (recorded, signed) = recorded_tx("tx-createbid-ok.json");
    let found = recorded["tx"].clone();
    let looks = AtomicUsize::new(0);
    let node = FakeNode::start(move |call| {
        let Call::Rpc { method, .. } = call else { panic!() };
        Say::Json(match method.as_str() {
            "broadcast_tx_commit" => {
                rpc_error("timed out waiting for tx to be included in a block")
            }
            "tx" if looks.fetch_add(1, Ordering::Relaxed) < 3 => {
                fixture_json("rpc-tx-notfound.json")
            }
            _ => found.clone(),
        })
    })
    .await;
    let patient = Wait { at_most: Duration::from_secs(120), ..QUICK };
    let result =
        broadcast(&Node::new(node.rpc()), &signed, BroadcastMode::Commit, patient).await.unwrap();
    let Broadcast::Delivered { height, result } = result else { panic!() };
    assert_eq!((height, result.is_ok(), result.gas_used), (213, true, 123_871));
    assert_eq!(node.asked().len(), 5);
}

#[tokio::test]
async fn waiting_ends_and_says_what_it_does_not_know() {
    let hash = [0xab; 32].into();
    let node = says(fixture_json("rpc-tx-notfound.json")).await;
    let error = wait_for(&Node::new(node.rpc()), hash, QUICK).await.unwrap_err();
    assert_eq!(error, WaitError::NotIncluded { hash, after: QUICK.at_most });
    assert!((1..=21).contains(&node.asked().len()));
    // Any other error ends it: the node does not index transactions, or is broken.
    let node = says(rpc_error("transaction indexing is disabled")).await;
    let error = wait_for(&Node::new(node.rpc()), hash, QUICK).await.unwrap_err();
    assert!(matches!(error, WaitError::Query(_)), "{error:?}");
    assert_eq!(node.asked().len(), 1);
}

#[tokio::test]
async fn silence_after_a_broadcast_is_not_a_refusal() {
    let (recorded, signed) = recorded_tx("tx-createbid-ok.json");
    let limits = Limits { request: Duration::from_millis(200), ..Limits::default() };
    let node = FakeNode::start(|_| Say::Nothing).await;
    let silent = Node::new(node.rpc_with(limits));
    let error = broadcast(&silent, &signed, BroadcastMode::Sync, QUICK).await.unwrap_err();
    let BroadcastError::Send { hash, source } = error else { panic!("{error:?}") };
    assert_eq!(hash.to_string(), recorded["tx_hash"]);
    let timeout =
        matches!(source, akash_chain::query::Failure::Unavailable(Unavailable::Timeout { .. }));
    assert!(timeout, "{source:?}");
    // A hash that is not ours, and an answer that is none.
    for answer in [
        json!({"result": {"code": 0, "hash": "AB".repeat(32)}}),
        json!({"result": {"code": "zero"}}),
        rpc_error("no idea"),
    ] {
        let node = says(answer.clone()).await;
        let result = broadcast(&Node::new(node.rpc()), &signed, BroadcastMode::Sync, QUICK).await;
        assert!(matches!(result, Err(BroadcastError::Send { .. })), "{answer}");
    }
    let node = says(json!({"result": {"check_tx": {"code": 0}, "height": "0"}})).await;
    let result = broadcast(&Node::new(node.rpc()), &signed, BroadcastMode::Commit, QUICK).await;
    assert!(matches!(result, Err(BroadcastError::Send { .. })), "{result:?}");
}

fn bids(file: &str) -> Vec<akash_chain::tx::Message> {
    let recorded = fixture_json(file);
    recorded["tx_json"]["body"]["messages"].as_array().unwrap().iter().map(message).collect()
}

#[test]
fn a_plan_becomes_what_it_says() {
    let key = Key::provider();
    let messages = bids("tx-createbid-ok.json");
    let gas_limit = GasAdjustment::default().apply(107_913).unwrap();
    let amount = FeeRule::parse("", "0.025uakt").unwrap().fee(gas_limit).unwrap();
    let granter = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r";
    let fee = Fee { amount, gas_limit, granter: Some(granter.parse().unwrap()) };
    let plan = TxPlan {
        chain_id: "akashnet-2",
        account_number: 7,
        sequence: 8,
        messages: &messages,
        fee: &fee,
        memo: "hello",
        timeout_height: 99,
    };
    let unsigned = Unsigned::new(&plan, &key).unwrap();
    let body = TxBody::decode(unsigned.body_bytes()).unwrap();
    assert_eq!((body.memo.as_str(), body.timeout_height, body.messages.len()), ("hello", 99, 1));
    let auth_info = AuthInfo::decode(unsigned.auth_info_bytes()).unwrap();
    let sent = auth_info.fee.unwrap();
    assert_eq!((sent.gas_limit, sent.amount[0].amount.as_str()), (161_869, "4047"));
    assert_eq!(sent.granter, granter);
    assert_eq!((sent.payer.as_str(), auth_info.signer_infos[0].sequence), ("", 8));
    for (raw, length) in [(unsigned.to_simulate(), 64), (unsigned.to_simulate_as_go(), 0)] {
        let raw = TxRaw::decode(raw.as_slice()).unwrap();
        assert_eq!(raw.signatures, [vec![0; length]]);
        assert_eq!(raw.body_bytes, unsigned.body_bytes());
    }
}

#[test]
fn a_plan_that_makes_no_sense_is_refused() {
    let key = Key::provider();
    let fee = Fee::default();
    let messages = bids("tx-createbid-ok.json");
    let plan = TxPlan {
        chain_id: "local",
        account_number: 0,
        sequence: 0,
        messages: &messages,
        fee: &fee,
        memo: "",
        timeout_height: 0,
    };
    let none = TxPlan { messages: &[], ..plan.clone() };
    assert_eq!(Unsigned::new(&none, &key).unwrap_err(), BuildError::NoMessages);
    let nowhere = TxPlan { chain_id: "", ..plan.clone() };
    assert_eq!(Unsigned::new(&nowhere, &key).unwrap_err(), BuildError::NoChainId);
    let deployment = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r/5".parse().unwrap();
    let foreign = [akash_chain::tx::message::deployment::close_deployment(deployment)];
    let foreign = TxPlan { messages: &foreign, ..plan };
    let error = Unsigned::new(&foreign, &key).unwrap_err();
    assert!(matches!(error, BuildError::WrongSigner { .. }), "{error:?}");
}
