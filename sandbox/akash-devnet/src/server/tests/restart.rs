//! What clients saw is there after any end.

use std::time::Duration;

use serde_json::json;

use super::support::*;
use crate::node::tests::fake::tx;
use crate::server::Config;

fn config_at(home: &std::path::Path) -> Config {
    Config { home: Some(home.to_owned()), ..config() }
}

#[tokio::test]
async fn blocks_and_transactions_are_there_after_a_shutdown_and_after_a_crash() {
    let home = tempfile::tempdir().unwrap();
    let mut hashes = Vec::new();
    for round in 0..4_u64 {
        let devnet = start_with(config_at(home.path())).await;
        let height = result(&devnet, "status", json!({})).await;
        assert_eq!(height["sync_info"]["latest_block_height"], (1 + round).to_string());
        for hash in &hashes {
            let found = result(&devnet, "tx_search", json!({"query": format!("tx.hash='{hash}'")}));
            assert_eq!(found.await["total_count"], "1");
        }
        let params = json!({"tx": base64(&tx("a", round, 10))});
        let sent = result(&devnet, "broadcast_tx_sync", params).await;
        assert_eq!(sent["code"], 0, "{sent}");
        hashes.push(sent["hash"].as_str().unwrap().to_owned());
        devnet.produce_block(None).await.unwrap();
        if round % 2 == 0 {
            devnet.shutdown().await.unwrap();
        } else {
            drop(devnet);
        }
    }
}

#[tokio::test]
async fn a_crash_among_fast_blocks_loses_nothing_that_was_seen() {
    let home = tempfile::tempdir().unwrap();
    for _ in 0..5 {
        let config =
            Config { block_time: Some(Duration::from_millis(1)), ..config_at(home.path()) };
        let devnet = start_with(config).await;
        tokio::time::sleep(Duration::from_millis(30)).await;
        let status = result(&devnet, "status", json!({})).await;
        drop(devnet);
        let devnet = start_with(config_at(home.path())).await;
        let params = json!({"height": status["sync_info"]["latest_block_height"]});
        let block = result(&devnet, "block", params).await;
        assert_eq!(block["block_id"]["hash"], status["sync_info"]["latest_block_hash"]);
        devnet.shutdown().await.unwrap();
    }
}

#[tokio::test]
async fn without_idle_blocks_only_transactions_make_them() {
    let config =
        Config { block_time: Some(Duration::from_millis(5)), idle_blocks: false, ..config() };
    let devnet = start_with(config).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    let committed = result(&devnet, "broadcast_tx_commit", json!({"tx": base64(&tx("a", 0, 1))}));
    assert_eq!(committed.await["height"], "2");
}

#[tokio::test]
async fn a_port_that_is_taken_is_named() {
    let devnet = start().await;
    let config = Config { rpc: devnet.rpc_address(), ..config() };
    let fake = crate::node::tests::fake::Fake::default();
    let error = crate::server::Devnet::start(config, fake, |_| {}).await.unwrap_err();
    assert_eq!(error.to_string(), format!("listening on {}", devnet.rpc_address()));
}
