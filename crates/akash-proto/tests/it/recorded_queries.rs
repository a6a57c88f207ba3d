//! Answers of a real node, read through the generated types and through the descriptors.

use akash_proto::akash::{cert, deployment, discovery, escrow, market, provider};
use akash_proto::cosmos::{auth, bank, base};
use prost_reflect::MethodDescriptor;
use serde_json::Value as Json;

use crate::common::{
    self, Names, assert_no_unknown_fields, assert_round_trip, assert_same_fields, from_base64,
    from_hex, json, json_lines, message, pool,
};

fn calls() -> Vec<Json> {
    json_lines("chain/grpc.jsonl")
}

fn method(path: &str) -> Option<MethodDescriptor> {
    let (service, name) = path.strip_prefix('/').unwrap().split_once('/').unwrap();
    let service = pool().get_service_by_name(service).unwrap_or_else(|| panic!("no {service}"));
    service.methods().find(|method| method.name() == name)
}

fn name(call: &Json) -> &str {
    call["name"].as_str().unwrap()
}

#[test]
fn every_recorded_call_is_known_in_full() {
    for call in calls() {
        let what = name(&call);
        let Some(method) = method(call["method"].as_str().unwrap()) else {
            assert_eq!(what, "unknown_method");
            continue;
        };
        assert_no_unknown_fields(&method.input(), &from_hex(&call["request_hex"]), what);
        if call["code"] == 0 {
            assert_no_unknown_fields(&method.output(), &from_base64(&call["response_b64"]), what);
        }
    }
}

/// The check itself: three bytes of a field 100 inside the `Any` of an account.
#[test]
#[should_panic(expected = "BaseAccount: unknown fields [100]")]
fn an_unknown_field_would_be_noticed() {
    let mut account = akash_proto::to_any(&auth::v1beta1::BaseAccount::default());
    account.value.extend([0xa0, 0x06, 0x01]);
    let answer = auth::v1beta1::QueryAccountResponse { account: Some(account) };
    let descriptor = message("cosmos.auth.v1beta1.QueryAccountResponse");
    assert_no_unknown_fields(&descriptor, &prost::Message::encode_to_vec(&answer), "check");
}

#[test]
fn every_recorded_answer_survives_the_generated_types() {
    let mut seen = 0;
    for call in calls().iter().filter(|call| call["code"] == 0) {
        let bytes = from_base64(&call["response_b64"]);
        assert_answer_round_trips(call["method"].as_str().unwrap(), &bytes, name(call));
        seen += 1;
    }
    assert!(seen >= 26, "only {seen} answers in the recording");
}

fn assert_answer_round_trips(method: &str, bytes: &[u8], what: &str) {
    macro_rules! by_method {
        ($($path:literal => $answer:ty,)*) => {
            match method {
                $($path => drop(assert_round_trip::<$answer>(bytes, what)),)*
                other => panic!("{what}: add {other} here"),
            }
        };
    }
    by_method! {
        "/akash.market.v1beta5.Query/Orders" => market::v1beta5::QueryOrdersResponse,
        "/akash.market.v1beta5.Query/Order" => market::v1beta5::QueryOrderResponse,
        "/akash.market.v1beta5.Query/Bids" => market::v1beta5::QueryBidsResponse,
        "/akash.market.v1beta5.Query/Bid" => market::v1beta5::QueryBidResponse,
        "/akash.market.v1beta5.Query/Leases" => market::v1beta5::QueryLeasesResponse,
        "/akash.market.v1beta5.Query/Lease" => market::v1beta5::QueryLeaseResponse,
        "/akash.market.v1beta5.Query/Params" => market::v1beta5::QueryParamsResponse,
        "/akash.deployment.v1beta4.Query/Deployment" => deployment::v1beta4::QueryDeploymentResponse,
        "/akash.deployment.v1beta4.Query/Group" => deployment::v1beta4::QueryGroupResponse,
        "/akash.deployment.v1beta4.Query/Params" => deployment::v1beta4::QueryParamsResponse,
        "/akash.provider.v1beta4.Query/Provider" => provider::v1beta4::QueryProviderResponse,
        "/akash.cert.v1.Query/Certificates" => cert::v1::QueryCertificatesResponse,
        "/akash.escrow.v1.Query/Accounts" => escrow::v1::QueryAccountsResponse,
        "/akash.escrow.v1.Query/Payments" => escrow::v1::QueryPaymentsResponse,
        "/akash.discovery.v1.Discovery/GetInfo" => discovery::v1::GetInfoResponse,
        "/cosmos.auth.v1beta1.Query/Account" => auth::v1beta1::QueryAccountResponse,
        "/cosmos.auth.v1beta1.Query/AccountInfo" => auth::v1beta1::QueryAccountInfoResponse,
        "/cosmos.bank.v1beta1.Query/Balance" => bank::v1beta1::QueryBalanceResponse,
        "/cosmos.bank.v1beta1.Query/AllBalances" => bank::v1beta1::QueryAllBalancesResponse,
        "/cosmos.base.tendermint.v1beta1.Service/GetNodeInfo" => base::tendermint::v1beta1::GetNodeInfoResponse,
        "/cosmos.base.tendermint.v1beta1.Service/GetLatestBlock" => base::tendermint::v1beta1::GetLatestBlockResponse,
    }
}

#[test]
fn the_nodes_json_has_our_field_names() {
    let mut seen = 0;
    for call in calls().iter().filter(|call| call["code"] == 0) {
        // One path in the recording is not routed by the gateway of the node.
        if call["rest_json"].is_null() || call["rest_status"].as_u64().unwrap_or(200) != 200 {
            continue;
        }
        let answer = method(call["method"].as_str().unwrap()).unwrap().output();
        assert_same_fields(&answer, &call["rest_json"], Names::Proto, name(call));
        seen += 1;
    }
    assert!(seen >= 16, "only {seen} JSON answers in the recording");
}

#[test]
fn a_broadcast_of_a_known_tx_is_answered_with_code_19() {
    let bytes = from_base64(&json("chain/grpc-broadcast-same-tx.json")["response_b64"]);
    let answer: akash_proto::cosmos::tx::v1beta1::BroadcastTxResponse =
        assert_round_trip(&bytes, "broadcast");
    let response = answer.tx_response.unwrap();
    assert_eq!((response.codespace.as_str(), response.code), ("sdk", 19));
}

#[test]
fn the_go_providers_status_has_our_field_names() {
    let recording = common::fixture("gateway/grpc/getstatus-emit-defaults.txt");
    let (_, stdout) = recording.split_once("--- stdout\n").unwrap();
    let (stdout, _) = stdout.split_once("--- stderr").unwrap();
    let status: Json = serde_json::from_str(stdout).unwrap();
    assert_same_fields(&message("akash.provider.v1.Status"), &status, Names::Json, "status");
}
