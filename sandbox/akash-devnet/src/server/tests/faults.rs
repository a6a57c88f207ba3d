//! Every fault does what it says, and stops when told.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::support::*;
use crate::node::tests::fake::tx;
use crate::server::Devnet;

async fn height(devnet: &Devnet) -> Value {
    result(devnet, "status", json!({})).await["sync_info"]["latest_block_height"].clone()
}

#[tokio::test]
async fn a_lagging_node_knows_nothing_of_the_newest() {
    let devnet = start().await;
    devnet.produce_block(None).await.unwrap();
    devnet.produce_block(None).await.unwrap();
    devnet.faults().change(|plan| plan.lag = 2);
    assert_eq!(height(&devnet).await, "1");
    let text = error(&devnet, "block_results", json!({"height": "3"})).await;
    assert_eq!(text, "height 3 must be less than or equal to the current blockchain height 1");
    let mut socket = WebSocket::connect(&devnet).await;
    socket.subscribe(1, "tm.event='NewBlockHeader'").await;
    devnet.produce_block(None).await.unwrap();
    assert_eq!(socket.next().await["result"]["data"]["value"]["header"]["height"], "2");
    devnet.faults().clear();
    assert_eq!(height(&devnet).await, "4");
}

#[tokio::test]
async fn chosen_methods_fail_and_the_mempool_is_full_or_closed() {
    let devnet = start().await;
    devnet.faults().fail("status", "out of order", Some(1));
    assert_eq!(error(&devnet, "status", json!({})).await, "out of order");
    assert_eq!(height(&devnet).await, "1");
    devnet.faults().fail("/fake.Query/Echo", "gone", None);
    let params = json!({"path": "/fake.Query/Echo", "data": ""});
    assert_eq!(error(&devnet, "abci_query", params).await, "gone");

    let send = json!({"tx": base64(&tx("a", 0, 10))});
    devnet.faults().change(|plan| plan.mempool_full = true);
    let full = error(&devnet, "broadcast_tx_sync", send.clone()).await;
    assert!(full.starts_with("mempool is full: number of txs 0 (max: 5000)"), "{full}");
    devnet.faults().change(|plan| plan.catching_up = true);
    let closed = error(&devnet, "broadcast_tx_sync", send.clone()).await;
    assert_eq!(closed, "endpoint is closed while node is catching up");
    let status = result(&devnet, "status", json!({})).await;
    assert_eq!(status["sync_info"]["catching_up"], true);
    devnet.faults().clear();
    assert_eq!(result(&devnet, "broadcast_tx_sync", send).await["code"], 0);
}

#[tokio::test]
async fn blocks_stop_and_go_on() {
    let mut config = config();
    config.block_time = Some(Duration::from_millis(5));
    let devnet = start_with(config).await;
    devnet.faults().change(|plan| plan.stop_blocks = true);
    // One that was being made still comes, when the machine has time for it.
    let mut stopped = height(&devnet).await;
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        stopped = height(&devnet).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(height(&devnet).await, stopped);
    devnet.faults().clear();
    let mut socket = WebSocket::connect(&devnet).await;
    socket.subscribe(1, "tm.event='NewBlockHeader'").await;
    socket.next().await;
}

#[tokio::test]
async fn frames_are_lost_or_late() {
    let devnet = start().await;
    let mut socket = WebSocket::connect(&devnet).await;
    socket.subscribe(1, "tm.event='NewBlockHeader'").await;
    devnet.faults().change(|plan| plan.drop_frames = 1);
    devnet.produce_block(None).await.unwrap();
    devnet.faults().change(|plan| plan.drop_block_events = true);
    devnet.produce_block(None).await.unwrap();
    devnet.faults().change(|plan| {
        plan.drop_block_events = false;
        plan.frame_delay = Duration::from_millis(20);
    });
    let before = tokio::time::Instant::now();
    devnet.produce_block(None).await.unwrap();
    let frame = socket.next().await;
    assert_eq!(frame["result"]["data"]["value"]["header"]["height"], "4", "2 and 3 were lost");
    assert!(before.elapsed() >= Duration::from_millis(20));
}

#[tokio::test]
async fn frozen_connections_stay_open_and_silent_while_new_ones_work() {
    let devnet = start().await;
    let mut old = WebSocket::connect(&devnet).await;
    old.subscribe(1, "tm.event='NewBlockHeader'").await;
    devnet.faults().freeze_open_connections();
    devnet.produce_block(None).await.unwrap();
    assert!(timeout(Duration::from_millis(50), old.next()).await.is_err());
    assert_eq!(height(&devnet).await, "2", "a new connection works");
    devnet.faults().thaw_connections();
    assert_eq!(old.next().await["result"]["data"]["value"]["header"]["height"], "2");
    devnet.faults().cut_open_connections();
    assert!(old.ends().await, "at once, though nothing was under way");
}

#[tokio::test]
async fn the_newest_results_are_late() {
    let devnet = start().await;
    devnet.produce_block(None).await.unwrap();
    devnet.faults().change(|plan| plan.late_results = true);
    let text = error(&devnet, "block_results", json!({"height": "2"})).await;
    assert_eq!(text, "could not find results for height #2");
    result(&devnet, "block_results", json!({"height": "1"})).await;
}

#[tokio::test]
async fn blocks_come_late_while_transactions_are_taken() {
    let mut config = config();
    config.block_time = Some(Duration::from_millis(10));
    let devnet = start_with(config).await;
    devnet.faults().change(|plan| plan.block_delay = Duration::from_millis(150));
    // Whoever waits for a block with its answer always sees one come; others do now and then, where
    // the machine is slow.
    let mut sequence = 0;
    loop {
        let before = height(&devnet).await;
        let sent = json!({"tx": base64(&tx("a", sequence, 1))});
        assert_eq!(result(&devnet, "broadcast_tx_sync", sent).await["code"], 0);
        if height(&devnet).await == before {
            break;
        }
        sequence += 1;
        assert!(sequence < 50, "transactions wait for blocks");
    }
    let begun = tokio::time::Instant::now();
    let mut socket = WebSocket::connect(&devnet).await;
    socket.subscribe(1, "tm.event='NewBlockHeader'").await;
    for _ in 0..4 {
        socket.next().await;
    }
    // The first of them may have been on its way.
    assert!(begun.elapsed() >= Duration::from_millis(3 * 140), "{:?}", begun.elapsed());
}
