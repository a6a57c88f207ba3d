//! gRPC.

use akash_grpc::akash::discovery::v1::discovery_client::DiscoveryClient;
use akash_grpc::cosmos::base::tendermint::v1beta1::service_client::ServiceClient as Tendermint;
use akash_grpc::cosmos::tx::v1beta1::service_client::ServiceClient as Txs;
use akash_proto::akash::discovery::v1::{GetInfoRequest, GetInfoResponse};
use akash_proto::cosmos::base::tendermint::v1beta1::{
    GetBlockByHeightRequest, GetLatestBlockRequest, GetLatestValidatorSetRequest,
    GetNodeInfoRequest, GetSyncingRequest,
};
use akash_proto::cosmos::tx::v1beta1::{
    BroadcastMode, BroadcastTxRequest, GetTxRequest, GetTxsEventRequest, SimulateRequest,
};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prost::Message;
use serde_json::Value;
use tonic::Code;
use tonic::transport::{Channel, Endpoint};

use super::support::*;
use crate::node::tests::fake::tx;
use crate::server::Devnet;
use crate::server::grpc::Raw;

async fn channel(devnet: &Devnet) -> Channel {
    let uri = format!("http://{}", devnet.grpc_address());
    Endpoint::from_shared(uri).unwrap().connect().await.unwrap()
}

async fn raw(
    channel: Channel,
    path: &str,
    data: &[u8],
    height: Option<&str>,
) -> Result<tonic::Response<Vec<u8>>, tonic::Status> {
    let mut client = tonic::client::Grpc::new(channel);
    client.ready().await.unwrap();
    let mut request = tonic::Request::new(data.to_vec());
    if let Some(height) = height {
        request.metadata_mut().insert("x-cosmos-block-height", height.parse().unwrap());
    }
    client.unary(request, path.parse().unwrap(), Raw).await
}

#[tokio::test]
async fn any_method_reaches_the_state_and_the_answer_tells_its_height() {
    let devnet = start().await;
    devnet.produce_block(None).await.unwrap();
    let channel = channel(&devnet).await;
    let echo = raw(channel.clone(), "/fake.Query/Echo", b"hello", None).await.unwrap();
    assert_eq!(echo.metadata().get("x-cosmos-block-height").unwrap(), "2");
    assert_eq!(echo.into_inner(), b"hello");
    let old = raw(channel.clone(), "/fake.Query/Height", &[], Some("1")).await.unwrap();
    assert_eq!(old.metadata().get("x-cosmos-block-height").unwrap(), "1");
    assert_eq!(old.into_inner(), b"1");

    let status = raw(channel.clone(), "/fake.Query/Missing", &[], None).await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::NotFound, "no such thing"));
    let status = raw(channel.clone(), "/fake.Query/Height", &[], Some("9")).await.unwrap_err();
    assert_eq!(status.code(), Code::Unknown);
    let status = raw(channel, "/fake.Query/Height", &[], Some("x")).await.unwrap_err();
    assert_eq!(status.code(), Code::Unknown);
}

#[tokio::test]
async fn what_is_unknown_is_refused_with_the_go_servers_texts() {
    let devnet = start().await;
    let channel = channel(&devnet).await;
    let refused = async |path: &str| {
        let status = raw(channel.clone(), path, &[], None).await.unwrap_err();
        assert_eq!(status.code(), Code::Unimplemented);
        status.message().to_owned()
    };
    let method = "unknown method Nope for service akash.market.v1beta5.Query";
    assert_eq!(refused("/akash.market.v1beta5.Query/Nope").await, method);
    assert_eq!(refused("/nobody.Query/Nope").await, "unknown service nobody.Query");
    let method = "unknown method Nope for service cosmos.tx.v1beta1.Service";
    assert_eq!(refused("/cosmos.tx.v1beta1.Service/Nope").await, method);
}

#[tokio::test]
async fn discovery_answers_as_recorded() {
    let devnet = start().await;
    let mut client = DiscoveryClient::new(channel(&devnet).await);
    let ours = client.get_info(GetInfoRequest {}).await.unwrap();
    assert!(ours.metadata().get("x-cosmos-block-height").is_none());
    let text = recorded_text("grpc.jsonl");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let line = lines.into_iter().find(|line| line["name"] == "akash_discovery").unwrap();
    let bytes = BASE64_STANDARD.decode(line["response_b64"].as_str().unwrap()).unwrap();
    assert_eq!(ours.into_inner(), GetInfoResponse::decode(bytes.as_slice()).unwrap());
}

#[tokio::test]
async fn transactions_are_tried_sent_and_found() {
    let devnet = start().await;
    let mut client = Txs::new(channel(&devnet).await);
    let simulate = SimulateRequest { tx_bytes: tx("a", 0, 77).to_vec(), ..Default::default() };
    let simulated = client.simulate(simulate).await.unwrap().into_inner().gas_info.unwrap();
    assert_eq!((simulated.gas_wanted, simulated.gas_used), (u64::MAX, 77));
    let empty = client.simulate(SimulateRequest::default()).await.unwrap_err();
    assert_eq!(empty.message(), "empty txBytes is not allowed");

    let send =
        BroadcastTxRequest { tx_bytes: tx("a", 0, 77).to_vec(), mode: BroadcastMode::Sync.into() };
    let sent = client.broadcast_tx(send.clone()).await.unwrap().into_inner().tx_response.unwrap();
    assert_eq!(sent.code, 0);
    let again = client.broadcast_tx(send).await.unwrap().into_inner().tx_response.unwrap();
    assert_eq!((again.codespace.as_str(), again.code, again.raw_log.as_str()), ("sdk", 19, ""));
    let block = BroadcastTxRequest { tx_bytes: vec![1], mode: 0 };
    assert_eq!(client.broadcast_tx(block).await.unwrap_err().code(), Code::Unknown);

    devnet.produce_block(None).await.unwrap();
    let found = client.get_tx(GetTxRequest { hash: sent.txhash.to_lowercase() }).await.unwrap();
    let found = found.into_inner().tx_response.unwrap();
    assert_eq!((found.height, &found.txhash), (2, &sent.txhash));
    assert_eq!(found.data, hex::encode_upper("done"));
    let unknown = client.get_tx(GetTxRequest { hash: "AB".repeat(32) }).await.unwrap_err();
    let recorded = recorded("grpc-gettx-notfound.json");
    assert_eq!(unknown.code() as i64, recorded["code"].as_i64().unwrap());
    assert_eq!(unknown.message(), recorded["message"].as_str().unwrap());
    let none = GetTxsEventRequest { query: "tx.height=9".to_owned(), ..Default::default() };
    assert_eq!(client.get_txs_event(none).await.unwrap().into_inner().total, 0);
}

#[tokio::test]
async fn the_node_tells_of_itself_and_its_blocks() {
    let devnet = start().await;
    let mut client = Tendermint::new(channel(&devnet).await);
    let info = client.get_node_info(GetNodeInfoRequest {}).await.unwrap().into_inner();
    assert_eq!(info.default_node_info.unwrap().network, "local");
    assert!(!client.get_syncing(GetSyncingRequest {}).await.unwrap().into_inner().syncing);
    let latest = client.get_latest_block(GetLatestBlockRequest {}).await.unwrap().into_inner();
    let sdk = latest.sdk_block.unwrap().header.unwrap();
    assert_eq!((sdk.height, sdk.chain_id.as_str()), (1, "local"));
    assert!(sdk.proposer_address.starts_with("akashvalcons1"));
    let request = GetBlockByHeightRequest { height: 1 };
    let block = client.get_block_by_height(request).await.unwrap().into_inner();
    assert_eq!(block.block_id, latest.block_id);
    let ahead = client.get_block_by_height(GetBlockByHeightRequest { height: 5 }).await;
    assert_eq!(ahead.unwrap_err().code(), Code::InvalidArgument);
    let set = GetLatestValidatorSetRequest { pagination: None };
    let set = client.get_latest_validator_set(set).await.unwrap().into_inner();
    assert_eq!(set.validators.len(), 1);
}

#[tokio::test]
async fn reflection_lists_what_is_served() {
    use tonic_reflection::pb::v1::ServerReflectionRequest;
    use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
    use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
    use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

    let devnet = start().await;
    let mut client = ServerReflectionClient::new(channel(&devnet).await);
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let requests = futures_util::stream::iter([request]);
    let mut answers = client.server_reflection_info(requests).await.unwrap().into_inner();
    let answer = answers.message().await.unwrap().unwrap();
    let Some(MessageResponse::ListServicesResponse(list)) = answer.message_response else {
        panic!("{answer:?}");
    };
    let names: Vec<&str> = list.service.iter().map(|service| service.name.as_str()).collect();
    assert!(names.contains(&"akash.market.v1beta5.Query"), "{names:?}");
    assert!(names.contains(&"cosmos.tx.v1beta1.Service"), "{names:?}");
}
