//! A devnet of the real rules, asked over the network as any client would.

mod support;

use akash_grpc::cosmos::auth::v1beta1::query_client::QueryClient as Auth;
use akash_grpc::cosmos::bank::v1beta1::query_client::QueryClient as Bank;
use akash_grpc::cosmos::tx::v1beta1::service_client::ServiceClient as Txs;
use akash_proto::cosmos::auth::v1beta1::QueryAccountInfoRequest;
use akash_proto::cosmos::bank::v1beta1::{QueryBalanceRequest, QueryBalanceResponse};
use akash_proto::cosmos::tx::v1beta1::{BroadcastMode, BroadcastTxRequest, SimulateRequest};
use prost::Message;
use serde_json::json;
use support::{Chain, Wallet};

#[tokio::test]
async fn a_transfer_is_simulated_signed_sent_and_paid_for() {
    let chain = Chain::start(None).await;
    let (provider, tenant) = (Wallet::provider(), Wallet::numbered(1));
    let mut auth = Auth::new(chain.channel().await);
    let request = QueryAccountInfoRequest { address: provider.text() };
    let account = auth.account_info(request).await.unwrap().into_inner().info.unwrap();
    assert_eq!(account.sequence, 0);

    let mut txs = Txs::new(chain.channel().await);
    let tx = provider.transfer(&tenant, 1_000, account.account_number, 0);
    let simulate = SimulateRequest { tx_bytes: tx.clone(), ..SimulateRequest::default() };
    let simulated = txs.simulate(simulate).await.unwrap().into_inner();
    assert!(simulated.gas_info.unwrap().gas_used > 20_000);
    assert_eq!(simulated.result.unwrap().msg_responses.len(), 1);

    let send = BroadcastTxRequest { tx_bytes: tx, mode: BroadcastMode::Sync.into() };
    let sent = txs.broadcast_tx(send).await.unwrap().into_inner().tx_response.unwrap();
    assert_eq!((sent.code, sent.raw_log.as_str()), (0, ""));
    // The next one fits behind it before any block: simulate and check see what waits.
    let tx = provider.transfer(&tenant, 1, account.account_number, 1);
    let simulate = SimulateRequest { tx_bytes: tx.clone(), ..SimulateRequest::default() };
    txs.simulate(simulate).await.unwrap();
    let sent = chain.call("broadcast_tx_sync", json!({"tx": support::base64(&tx)})).await;
    assert_eq!(sent["result"]["code"], 0, "{sent}");
    chain.devnet.produce_block(None).await.unwrap();

    let mut bank = Bank::new(chain.channel().await);
    let request = QueryBalanceRequest { address: tenant.text(), denom: "uakt".to_owned() };
    let response = bank.balance(request.clone()).await.unwrap();
    let height = response.metadata().get("x-cosmos-block-height").unwrap().clone();
    assert_eq!(height, "2");
    let balance = response.into_inner();
    assert_eq!(balance.balance.as_ref().unwrap().amount, (support::RICH + 1_001).to_string());
    let params = json!({
        "path": "/cosmos.bank.v1beta1.Query/Balance",
        "data": hex::encode(request.encode_to_vec()),
    });
    let answer = chain.call("abci_query", params).await;
    let value = support::from_base64(&answer["result"]["response"]["value"]);
    assert_eq!(QueryBalanceResponse::decode(value.as_slice()).unwrap(), balance);
}

#[tokio::test]
async fn refusals_have_the_recorded_codes() {
    let chain = Chain::start(None).await;
    let (provider, tenant) = (Wallet::provider(), Wallet::numbered(1));
    let send = async |tx: Vec<u8>| {
        chain.call("broadcast_tx_sync", json!({"tx": support::base64(&tx)})).await["result"].clone()
    };
    let number = chain.number(&provider).await;
    let high = send(provider.transfer(&tenant, 1, number, 7)).await;
    assert_eq!((&high["code"], &high["codespace"]), (&json!(32), &json!("sdk")));
    let text = "account sequence mismatch, expected 0, got 7: incorrect account sequence";
    assert_eq!(high["log"], text);
    let foreign = send(provider.transfer(&tenant, 1, number + 1, 0)).await;
    assert_eq!(foreign["code"], 4);
    assert!(foreign["log"].as_str().unwrap().starts_with("signature verification failed"));
    let noise = send(b"noise".to_vec()).await;
    assert_eq!(noise["code"], 2);
}

#[tokio::test]
async fn the_faucet_pays_several_in_one_block() {
    let chain = Chain::start(None).await;
    let poor = [Wallet::numbered(100), Wallet::numbered(101)];
    let ask = async |wallet: &Wallet| {
        chain.get(&format!("/faucet?address={}&amount=5akt", wallet.text())).await
    };
    let ((first, second), _) =
        tokio::join!(async { tokio::join!(ask(&poor[0]), ask(&poor[1])) }, async {
            while chain.call("num_unconfirmed_txs", json!({})).await["result"]["n_txs"] != "2" {}
            chain.devnet.produce_block(None).await.unwrap();
        });
    for (status, answer) in [first, second] {
        assert_eq!((status, &answer["height"]), (200, &json!("2")), "{answer}");
        assert_eq!(answer["amount"], "5000000uakt");
    }
    let (status, answer) = chain.get("/faucet?address=nobody").await;
    assert_eq!(status, 400, "{answer}");
    let address = poor[0].text();
    let (status, answer) = chain.get(&format!("/faucet?address={address}&amount=x")).await;
    assert_eq!(status, 400, "{answer}");
}

#[tokio::test]
async fn the_state_is_the_same_after_a_crash() {
    let home = tempfile::tempdir().unwrap();
    let (provider, tenant) = (Wallet::provider(), Wallet::numbered(1));
    let mut before = None;
    for sequence in 0..3 {
        let chain = Chain::start(Some(home.path())).await;
        let info = chain.call("abci_info", json!({})).await;
        if let Some(before) = before {
            assert_eq!(info, before);
        }
        let number = chain.number(&provider).await;
        let tx = provider.transfer(&tenant, 5, number, sequence);
        let sent = chain.call("broadcast_tx_sync", json!({"tx": support::base64(&tx)})).await;
        assert_eq!(sent["result"]["code"], 0, "{sent}");
        let block = chain.devnet.produce_block(None).await.unwrap();
        assert!(block.results[0].is_ok(), "{:?}", block.results);
        before = Some(chain.call("abci_info", json!({})).await);
        drop(chain);
    }
}

#[tokio::test]
async fn a_long_queue_is_worked_off_in_order() {
    let chain = Chain::start(None).await;
    let (provider, poor) = (Wallet::provider(), Wallet::numbered(100));
    let number = chain.number(&provider).await;
    // Gas for 300 in a block.
    for sequence in 0..700 {
        let tx = provider.transfer(&poor, 20_000, number, sequence);
        let sent = chain.call("broadcast_tx_sync", json!({"tx": support::base64(&tx)})).await;
        assert_eq!(sent["result"]["code"], 0, "{sent}");
    }
    for expected in [300, 300, 100, 0] {
        let block = chain.devnet.produce_block(None).await.unwrap();
        assert_eq!(block.txs.len(), expected);
        assert!(block.results.iter().all(akash_devnet::state::TxResult::is_ok));
    }
    let waiting = chain.call("num_unconfirmed_txs", json!({})).await;
    assert_eq!(waiting["result"]["n_txs"], "0");
}
