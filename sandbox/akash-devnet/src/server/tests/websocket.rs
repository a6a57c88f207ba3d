//! Subscriptions.

use serde_json::json;

use super::support::*;
use crate::node::tests::fake::tx;

#[tokio::test]
async fn every_method_works_over_websocket_too() {
    let devnet = start().await;
    let mut socket = WebSocket::connect(&devnet).await;
    let status = socket.call(5, "status", json!({})).await;
    assert_eq!(
        (&status["id"], &status["result"]["sync_info"]["latest_block_height"]),
        (&json!(5), &json!("1"))
    );
    let unknown = socket.call(6, "nope", json!({})).await;
    assert_eq!(unknown["error"], json!({"code": -32601, "message": "Method not found"}));
    socket.send("{").await;
    let parse = socket.next().await;
    assert_eq!(parse["error"]["code"], -32700);
    let panics = r#"{"jsonrpc":"2.0","id":9,"method":"block"}"#;
    socket.send(panics).await;
    assert_eq!(socket.next().await["id"], -1);
}

#[tokio::test]
async fn frames_carry_the_query_and_id_of_their_subscription() {
    let devnet = start().await;
    let mut socket = WebSocket::connect(&devnet).await;
    socket.subscribe(42, "tm.event = 'NewBlockHeader'").await;
    devnet.produce_block(None).await.unwrap();
    let frame = socket.next().await;
    assert_eq!(frame["id"], 42);
    assert_eq!(frame["result"]["query"], "tm.event = 'NewBlockHeader'");
    assert_eq!(frame["result"]["data"]["value"]["header"]["height"], "2");
    assert_eq!(frame["result"]["events"], json!({"tm.event": ["NewBlockHeader"]}));
}

#[tokio::test]
async fn conditions_choose_transactions() {
    let devnet = start().await;
    let mut socket = WebSocket::connect(&devnet).await;
    let hash = hex::encode_upper(crate::node::sha256(&tx("b", 0, 10)));
    socket.subscribe(1, &format!("tm.event='Tx' AND tx.hash='{hash}'")).await;
    socket.subscribe(2, "tm.event='Tx' AND message.sender='a'").await;
    socket.subscribe(3, "tm.event='Tx' AND tx.height>5").await;
    socket.subscribe(4, "tm.event='NewBlock' AND begin.height=2").await;
    for sender in ["a", "b"] {
        result(&devnet, "broadcast_tx_sync", json!({"tx": base64(&tx(sender, 0, 10))})).await;
    }
    devnet.produce_block(None).await.unwrap();
    let block = socket.next().await;
    assert_eq!(block["id"], 4);
    let value = &block["result"]["data"]["value"];
    assert_eq!(value["block"]["header"]["height"], "2");
    assert_eq!(value["result_finalize_block"]["tx_results"].as_array().unwrap().len(), 2);
    let first = socket.next().await;
    assert_eq!(
        (&first["id"], &first["result"]["events"]["message.sender"]),
        (&json!(2), &json!(["a"]))
    );
    let second = socket.next().await;
    assert_eq!(
        (&second["id"], &second["result"]["events"]["tx.hash"]),
        (&json!(1), &json!([hash]))
    );
    let result = &second["result"]["data"]["value"]["TxResult"];
    assert_eq!((&result["index"], result["result"].get("code")), (&json!(1), None));
}

#[tokio::test]
async fn subscribing_twice_is_an_error_and_unsubscribing_ends_frames() {
    let devnet = start().await;
    let mut socket = WebSocket::connect(&devnet).await;
    let query = json!({"query": "tm.event='NewBlockHeader'"});
    socket.subscribe(1, "tm.event='NewBlockHeader'").await;
    let again = socket.call(2, "subscribe", query.clone()).await;
    assert_eq!(again["error"]["data"], "already subscribed");
    assert_eq!(socket.call(3, "unsubscribe", query.clone()).await["result"], json!({}));
    let gone = socket.call(4, "unsubscribe", query).await;
    assert_eq!(gone["error"]["data"], "subscription not found");
    devnet.produce_block(None).await.unwrap();
    assert_eq!(socket.call(5, "health", json!({})).await["id"], 5, "no frame came between");
    socket.subscribe(6, "tm.event='NewBlockHeader'").await;
    assert_eq!(socket.call(7, "unsubscribe_all", json!({})).await["result"], json!({}));
    let bad = socket.call(8, "subscribe", json!({"query": "tm.event"})).await;
    assert_eq!(bad["error"]["data"], "failed to parse query: offset 8: EOF");
    let list = socket.call(9, "subscribe", json!(["tm.event='Tx'"])).await;
    assert_eq!(list["result"], json!({}));
}

#[tokio::test]
async fn a_connection_ends_with_the_node() {
    let devnet = start().await;
    let socket = WebSocket::connect(&devnet).await;
    devnet.shutdown().await.unwrap();
    assert!(socket.ends().await);
}

#[tokio::test]
async fn results_are_there_when_the_header_frame_comes() {
    let devnet = start().await;
    let mut socket = WebSocket::connect(&devnet).await;
    socket.subscribe(1, "tm.event='NewBlockHeader'").await;
    for height in 2..20 {
        let (_, frame) = tokio::join!(devnet.produce_block(None), socket.next());
        assert_eq!(frame["result"]["data"]["value"]["header"]["height"], height.to_string());
        result(&devnet, "block_results", json!({"height": height.to_string()})).await;
    }
}
