//! Transactions recorded from a chain, taken apart and put together again.
//!
//! Go writes an empty sub-message that is not nullable as a field of length zero. Decoded, that is
//! `Some(default)`, which prost writes the same way: so re-encoding gives the recorded bytes. A
//! message built here with `None` in such a place is shorter and means the same to the chain.

use akash_proto::akash::base::attributes::v1::Attribute;
use akash_proto::akash::base::deposit::v1::{Deposit, Source};
use akash_proto::akash::base::resources::v1beta4::{
    Cpu, Endpoint, Gpu, Memory, ResourceValue, Resources, Storage,
};
use akash_proto::akash::deployment::v1beta4::{MsgCloseDeployment, MsgCreateDeployment};
use akash_proto::akash::market::v1::{BidId, LeaseClosedReason};
use akash_proto::akash::market::v1beta5::{
    MsgCloseBid, MsgCloseLease, MsgCreateBid, MsgCreateLease, MsgWithdrawLease, ResourceOffer,
};
use akash_proto::cosmos::base::abci::v1beta1::TxMsgData;
use akash_proto::cosmos::base::v1beta1::{Coin, DecCoin};
use akash_proto::cosmos::crypto::secp256k1::PubKey;
use akash_proto::cosmos::tx::signing::v1beta1::SignMode;
use akash_proto::cosmos::tx::v1beta1::mode_info::{Single, Sum};
use akash_proto::cosmos::tx::v1beta1::{
    AuthInfo, Fee, ModeInfo, SignDoc, SignerInfo, SimulateResponse, Tx, TxBody, TxRaw,
};
use akash_proto::{from_any, to_any, type_url};
use prost::{Message, Name};
use serde_json::Value as Json;

use crate::common::{
    Names, assert_no_unknown_fields, assert_round_trip, assert_same_fields, from_base64, from_hex,
    json, message,
};

/// Takes a raw transaction apart, checking that nothing is lost at any layer.
fn open(raw: &[u8], what: &str) -> (TxBody, AuthInfo) {
    assert_no_unknown_fields(&message("cosmos.tx.v1beta1.Tx"), raw, what);
    let tx: TxRaw = assert_round_trip(raw, what);
    let body = assert_round_trip(&tx.body_bytes, what);
    let auth_info = assert_round_trip(&tx.auth_info_bytes, what);
    (body, auth_info)
}

fn only_message<M: Name + Default>(body: &TxBody, what: &str) -> M {
    assert_eq!(body.messages.len(), 1, "{what}");
    assert_round_trip::<M>(&body.messages[0].value, what);
    from_any(&body.messages[0]).unwrap()
}

fn block_txs(file: &str) -> Vec<Vec<u8>> {
    let block = json(file);
    let txs = block["result"]["block"]["data"]["txs"].as_array().unwrap();
    txs.iter().map(from_base64).collect()
}

fn message_from_block<M: Name + Default>(file: &str) -> M {
    let [raw] = block_txs(file).try_into().unwrap();
    let (body, _) = open(&raw, file);
    only_message(&body, file)
}

fn digits(text: &str) -> Option<ResourceValue> {
    Some(ResourceValue { val: text.as_bytes().to_vec() })
}

/// The offer that both recorded bids make: 0.1 CPU, 16 MiB, 128 MiB of disk, one HTTP endpoint.
fn small_offer() -> ResourceOffer {
    let attributes: Vec<Attribute> = Vec::new();
    ResourceOffer {
        resources: Some(Resources {
            id: 1,
            cpu: Some(Cpu { units: digits("100"), attributes: attributes.clone() }),
            memory: Some(Memory { quantity: digits("16777216"), attributes: attributes.clone() }),
            storage: vec![Storage {
                name: "default".into(),
                quantity: digits("134217728"),
                attributes: attributes.clone(),
            }],
            gpu: Some(Gpu { units: digits("0"), attributes }),
            endpoints: vec![Endpoint::default()],
        }),
        count: 1,
        prices: None,
    }
}

fn bid(owner: &str, dseq: u64, price: &str) -> MsgCreateBid {
    MsgCreateBid {
        id: Some(BidId {
            owner: owner.into(),
            dseq,
            gseq: 1,
            oseq: 1,
            provider: "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8".into(),
            bseq: 0,
        }),
        price: Some(DecCoin { denom: "uact".into(), amount: price.into() }),
        deposit: Some(Deposit {
            amount: Some(Coin { denom: "uakt".into(), amount: "500000".into() }),
            sources: vec![Source::Balance.into()],
        }),
        resources_offer: vec![small_offer()],
        reclamation_window: None,
    }
}

#[test]
fn a_bid_built_here_has_the_bytes_that_were_signed_and_accepted() {
    let recorded = json("chain/tx-createbid-ok.json");
    let message = bid("akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r", 100, "500000000000000000000");
    let fee = &recorded["tx_json"]["auth_info"]["fee"];
    let body = TxBody { messages: vec![to_any(&message)], ..TxBody::default() };
    let auth_info = AuthInfo {
        signer_infos: vec![SignerInfo {
            public_key: Some(to_any(&PubKey { key: from_hex(&recorded["pubkey_hex"]) })),
            mode_info: Some(ModeInfo {
                sum: Some(Sum::Single(Single { mode: SignMode::Direct.into() })),
            }),
            sequence: recorded["sequence"].as_u64().unwrap(),
        }],
        fee: Some(Fee {
            amount: vec![Coin {
                denom: fee["amount"][0]["denom"].as_str().unwrap().into(),
                amount: fee["amount"][0]["amount"].as_str().unwrap().into(),
            }],
            gas_limit: fee["gas_limit"].as_str().unwrap().parse().unwrap(),
            ..Fee::default()
        }),
        ..AuthInfo::default()
    };
    let sign_doc = SignDoc {
        body_bytes: body.encode_to_vec(),
        auth_info_bytes: auth_info.encode_to_vec(),
        chain_id: "local".into(),
        account_number: recorded["account_number"].as_u64().unwrap(),
    };
    let raw = TxRaw {
        body_bytes: sign_doc.body_bytes.clone(),
        auth_info_bytes: sign_doc.auth_info_bytes.clone(),
        signatures: vec![from_hex(&recorded["signature_hex"])],
    };

    assert_eq!(hex::encode(&sign_doc.body_bytes), recorded["body_hex"]);
    assert_eq!(hex::encode(&sign_doc.auth_info_bytes), recorded["auth_info_hex"]);
    assert_eq!(hex::encode(sign_doc.encode_to_vec()), recorded["sign_doc_hex"]);
    assert_eq!(raw.encode_to_vec(), from_base64(&recorded["tx_raw_b64"]));
}

#[test]
fn the_go_providers_bid_is_the_bid_we_would_build() {
    let [raw] = block_txs("chain/goprovider-block-403.json").try_into().unwrap();
    let (body, auth_info) = open(&raw, "goprovider bid");
    let built = bid("akash1cjxzf0naveq8mraevz4d60wx54fdq65tcg2t95", 1000, "100000000000000000000");
    assert_eq!(only_message::<MsgCreateBid>(&body, "goprovider bid"), built);
    assert_eq!(auth_info.signer_infos[0].sequence, 14);

    let decoded = json("chain/goprovider-createbid-403.decoded.json");
    assert_same_fields(&message("cosmos.tx.v1beta1.Tx"), &decoded, Names::Proto, "goprovider bid");
}

#[test]
fn a_closed_bid_carries_its_reason() {
    let recorded = json("chain/tx-closebid-ok.json");
    let (body, _) = open(&from_base64(&recorded["tx_raw_b64"]), "closebid");
    let close: MsgCloseBid = only_message(&body, "closebid");
    let shown = &recorded["tx_json"]["body"]["messages"][0]["reason"];
    assert_eq!(shown.as_str().unwrap(), close.reason().as_str_name());

    let timeout: MsgCloseBid = message_from_block("chain/goprovider-block-2302.json");
    assert_eq!(timeout.reason(), LeaseClosedReason::ManifestTimeout);
}

#[test]
fn tenant_transactions_come_apart_without_loss() {
    let created: MsgCreateDeployment = message_from_block("chain/block-101.json");
    assert_eq!(created.groups.len(), 1);
    assert_eq!(created.hash.len(), 32);
    let bid: MsgCreateBid = message_from_block("chain/block-102.json");
    let lease: MsgCreateLease = message_from_block("chain/block-112.json");
    assert_eq!(bid.id, lease.bid_id);
    let withdrawn: MsgWithdrawLease = message_from_block("chain/block-117.json");
    let closed: MsgCloseLease = message_from_block("chain/block-247.json");
    assert_eq!(withdrawn.id, closed.id);
}

#[test]
fn simulation_answers_are_known_in_full() {
    for file in ["chain/tx-createbid-ok.json", "chain/tx-closebid-ok.json"] {
        let bytes = from_base64(&json(file)["simulate"]["response_b64"]);
        assert_no_unknown_fields(&message("cosmos.tx.v1beta1.SimulateResponse"), &bytes, file);
        let response: SimulateResponse = assert_round_trip(&bytes, file);
        assert!(response.gas_info.unwrap().gas_used > 0, "{file}");
        let result = response.result.unwrap();
        let data: TxMsgData = assert_round_trip(&result.data, file);
        assert_eq!(data.msg_responses, result.msg_responses, "{file}");
    }
}

#[test]
fn results_of_delivered_txs_name_the_response_of_each_message() {
    let mut typed_events = 0;
    let responses = [
        ("chain/block_results-101.json", "/akash.deployment.v1beta4.MsgCreateDeploymentResponse"),
        ("chain/block_results-112.json", "/akash.market.v1beta5.MsgCreateLeaseResponse"),
        ("chain/block_results-117.json", "/akash.market.v1beta5.MsgWithdrawLeaseResponse"),
        ("chain/goprovider-block_results-403.json", "/akash.market.v1beta5.MsgCreateBidResponse"),
    ];
    for (file, type_url) in responses {
        let results = json(file);
        let data = from_base64(&results["result"]["txs_results"][0]["data"]);
        assert_no_unknown_fields(&message("cosmos.base.abci.v1beta1.TxMsgData"), &data, file);
        let data: TxMsgData = assert_round_trip(&data, file);
        assert_eq!(data.msg_responses[0].type_url, type_url, "{file}");
        typed_events += check_event_fields(&results["result"]["txs_results"][0]["events"], file);
    }
    assert!(typed_events >= 4, "only {typed_events} typed events in the recordings");
}

/// Typed events carry one attribute for each field of the message they are named after. Returns
/// how many there were.
fn check_event_fields(events: &Json, what: &str) -> usize {
    let mut seen = 0;
    for event in events.as_array().unwrap() {
        let name = event["type"].as_str().unwrap();
        if !name.starts_with("akash.") {
            continue;
        }
        let descriptor = message(name);
        for attribute in event["attributes"].as_array().unwrap() {
            let key = attribute["key"].as_str().unwrap();
            // Added by the chain to say which message of the tx it was.
            let known = key == "msg_index" || descriptor.get_field_by_name(key).is_some();
            assert!(known, "{what}: {name} has {key}");
        }
        seen += 1;
    }
    seen
}

#[test]
fn a_fetched_tx_holds_the_tx_itself_under_its_type() {
    let bytes = from_base64(&json("chain/grpc-gettx-ok.json")["response_b64"]);
    assert_no_unknown_fields(&message("cosmos.tx.v1beta1.GetTxResponse"), &bytes, "gettx");
    let response: akash_proto::cosmos::tx::v1beta1::GetTxResponse =
        assert_round_trip(&bytes, "gettx");
    let any = response.tx_response.unwrap().tx.unwrap();
    assert_eq!(any.type_url, type_url::<Tx>());
    assert_eq!(from_any::<Tx>(&any).unwrap(), response.tx.unwrap());
    assert!(from_any::<MsgCloseDeployment>(&any).is_err());
}
