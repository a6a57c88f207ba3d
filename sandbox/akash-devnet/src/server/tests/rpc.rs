//! JSON-RPC over HTTP.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::support::*;
use crate::node::tests::fake::tx;

#[tokio::test]
async fn ids_are_echoed_and_notifications_get_no_answer() {
    let devnet = start().await;
    let health = |id: Value| json!({"jsonrpc": "2.0", "id": id, "method": "health"}).to_string();
    let ok = |id: Value| json!({"jsonrpc": "2.0", "id": id, "result": {}});
    assert_eq!(post(&devnet, &health(json!(7))).await.1, ok(json!(7)));
    assert_eq!(post(&devnet, &health(json!("seven"))).await.1, ok(json!("seven")));
    let (status, body) =
        http(&devnet, Method::POST, "/", r#"{"jsonrpc":"2.0","method":"health"}"#).await;
    assert_eq!((status, body.as_str()), (StatusCode::OK, ""));
    assert_eq!(get(&devnet, "/health").await.1, ok(json!(-1)));
}

#[tokio::test]
async fn several_requests_get_several_answers_and_one_gets_one() {
    let devnet = start().await;
    let request = |id: i64, method: &str| json!({"jsonrpc": "2.0", "id": id, "method": method});
    let batch = json!([request(1, "health"), request(2, "nope")]).to_string();
    let (status, answers) = post(&devnet, &batch).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(answers[0]["result"], json!({}));
    assert_eq!(answers[1]["error"], json!({"code": -32601, "message": "Method not found"}));
    let (_, one) = post(&devnet, &json!([request(1, "health")]).to_string()).await;
    assert_eq!(one["id"], 1);
}

#[tokio::test]
async fn errors_have_cometbfts_codes_and_statuses() {
    let devnet = start().await;
    let (status, answer) = post(&devnet, "{").await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(answer["error"]["code"], -32700);
    assert!(answer.get("id").is_none());
    let answer = call(&devnet, "block", json!({"height": 5})).await;
    assert_eq!(answer["error"]["code"], -32602);
    let text = r#"error converting json params to arguments: invalid 64-bit integer encoding "5", expected string"#;
    assert_eq!(answer["error"]["data"], text);
    let text = error(&devnet, "block", json!({"height": "9"})).await;
    assert_eq!(text, "height 9 must be less than or equal to the current blockchain height 1");

    let (status, answer) = get(&devnet, "/block?height=9").await;
    assert_eq!((status, &answer["id"]), (StatusCode::INTERNAL_SERVER_ERROR, &json!(-1)));
    let (status, answer) = get(&devnet, "/block?height=0x1").await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(answer["error"]["code"], -32602);
    let (status, answer) = get(&devnet, "/subscribe?query=%22a%22").await;
    assert_eq!((status, &answer["error"]["code"]), (StatusCode::NOT_FOUND, &json!(-32601)));
    let (status, body) = http(&devnet, Method::GET, "/nope", "").await;
    assert_eq!((status, body.as_str()), (StatusCode::NOT_FOUND, "404 page not found\n"));
    let (status, answer) = post(&devnet, r#"{"jsonrpc":"2.0","id":1,"method":"block"}"#).await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR, "a real node panics");
    assert_eq!(answer["error"]["data"], "reflect: Call with too few input arguments");
}

#[tokio::test]
async fn a_request_that_is_too_large_is_refused() {
    let devnet = start().await;
    let (status, body) = http(&devnet, Method::POST, "/", vec![b' '; 1_000_001]).await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(body.contains("http: request body too large"), "{body}");
}

#[tokio::test]
async fn a_transaction_is_sent_found_and_searched_for() {
    let devnet = start().await;
    let bytes = tx("a", 0, 10);
    let sent = result(&devnet, "broadcast_tx_sync", json!({"tx": base64(&bytes)})).await;
    let pending = result(&devnet, "num_unconfirmed_txs", json!({})).await;
    assert_eq!(pending["n_txs"], "1");
    let waiting = result(&devnet, "unconfirmed_txs", json!({"limit": "5"})).await;
    assert_eq!(waiting["txs"], json!([base64(&bytes)]));
    devnet.produce_block(None).await.unwrap();

    let hash = sent["hash"].as_str().unwrap();
    let (_, found) = get(&devnet, &format!("/tx?hash=0x{hash}&prove=true")).await;
    assert_eq!(found["result"]["height"], "2");
    assert_eq!(found["result"]["proof"]["data"], base64(&bytes));
    for query in [format!("tx.hash='{hash}'"), "message.sender='a' AND tx.height=2".to_owned()] {
        let params = json!({"query": query, "prove": false, "page": "1", "per_page": "100", "order_by": "asc"});
        let found = result(&devnet, "tx_search", params).await;
        assert_eq!(found["total_count"], "1");
        assert_eq!(found["txs"][0]["hash"], hash);
    }
    let text = error(&devnet, "tx_search", json!({"query": "tx.height=2", "page": "2"})).await;
    assert_eq!(text, "page should be within [1, 1] range, given 2");
    assert_eq!(error(&devnet, "tx_search", json!({"query": ""})).await, "offset 0: EOF");
}

#[tokio::test]
async fn commit_waits_for_the_block_and_tells_of_refusal_at_once() {
    let devnet = start().await;
    let params = json!({"tx": base64(&tx("a", 0, 10))});
    let (committed, _) = tokio::join!(result(&devnet, "broadcast_tx_commit", params), async {
        while result(&devnet, "num_unconfirmed_txs", json!({})).await["n_txs"] == "0" {}
        devnet.produce_block(None).await.unwrap();
    });
    assert_eq!((&committed["height"], &committed["tx_result"]["code"]), (&json!("2"), &json!(0)));
    assert_eq!(committed["check_tx"]["gas_wanted"], "10");

    let refused = json!({"tx": base64(&tx("a", 9, 10))});
    let refused = result(&devnet, "broadcast_tx_commit", refused).await;
    assert_eq!((&refused["height"], &refused["check_tx"]["code"]), (&json!("0"), &json!(32)));
    let again = json!({"tx": base64(&tx("a", 0, 10))});
    let text = error(&devnet, "broadcast_tx_commit", again).await;
    assert_eq!(text, "error on broadcastTxCommit: tx already exists in cache");
}

#[tokio::test]
async fn commit_gives_up_after_its_time() {
    let mut config = config();
    config.commit_timeout = std::time::Duration::from_millis(50);
    let devnet = start_with(config).await;
    let text = error(&devnet, "broadcast_tx_commit", json!({"tx": base64(&tx("a", 0, 1))})).await;
    assert_eq!(text, "timed out waiting for tx to be included in a block");
}

#[tokio::test]
async fn every_method_answers() {
    let devnet = start().await;
    devnet.produce_block(None).await.unwrap();
    let hash = result(&devnet, "block", json!({"height": "1"})).await["block_id"]["hash"].clone();
    let hash = hash.as_str().unwrap();
    let bytes = base64(&hex::decode(hash).unwrap());
    for (method, params) in [
        ("akash", json!({})),
        ("net_info", json!([])),
        ("genesis", json!({})),
        ("genesis_chunked", json!({"chunk": "0"})),
        ("blockchain", json!({"minHeight": "1", "maxHeight": "2"})),
        ("block_by_hash", json!({"hash": bytes})),
        ("block_search", json!({"query": "block.height>0"})),
        ("commit", json!({"height": "1"})),
        ("commit", json!({})),
        ("header", json!({})),
        ("header_by_hash", json!({"hash": hash})),
        ("validators", json!({})),
        ("consensus_params", json!({})),
        ("consensus_state", json!({})),
        ("dump_consensus_state", json!({})),
        ("check_tx", json!({"tx": base64(&tx("a", 0, 10))})),
        ("broadcast_tx_async", json!({"tx": base64(&tx("a", 0, 10))})),
    ] {
        let found = result(&devnet, method, params).await;
        assert!(found.is_object(), "{method}: {found}");
    }
    let text = error(&devnet, "broadcast_evidence", json!({"evidence": null})).await;
    assert_eq!(text, "no evidence was provided");
    let latest = result(&devnet, "commit", json!({})).await;
    assert_eq!(latest["canonical"], false);
    let headers = result(&devnet, "blockchain", json!({})).await;
    assert_eq!(headers["block_metas"].as_array().unwrap().len(), 2);
    let versions = result(&devnet, "akash", json!({})).await;
    assert_eq!(versions["supported_versions"][0]["features"], Value::Null);
}

#[tokio::test]
async fn queries_are_answered_at_the_height_asked_for() {
    let devnet = start().await;
    devnet.produce_block(None).await.unwrap();
    let at = async |height: &str| {
        let params = json!({"path": "/fake.Query/Height", "data": "", "height": height});
        result(&devnet, "abci_query", params).await["response"].clone()
    };
    assert_eq!(at("0").await["value"], base64(b"2"));
    let old = at("1").await;
    assert_eq!((&old["value"], &old["height"]), (&json!(base64(b"1")), &json!("1")));
    let text =
        "cannot query with height in the future; please provide a valid height: invalid height";
    assert_eq!(at("9").await["log"], text);
    devnet.prune_below(2).await.unwrap();
    assert_eq!(at("1").await["code"], 18);
}

#[tokio::test]
async fn pages_of_other_origins_may_ask() {
    let devnet = start().await;
    let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new())
        .build_http();
    let request = http::Request::options(format!("http://{}/", devnet.rpc_address()))
        .header("origin", "http://console.example")
        .header("access-control-request-method", "POST")
        .body(http_body_util::Full::<bytes::Bytes>::default())
        .unwrap();
    let response = client.request(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
    assert_eq!(response.headers()["access-control-allow-origin"], "*");
    assert!(response.headers().contains_key("access-control-allow-headers"));
}
