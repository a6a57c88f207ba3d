//! Transactions that a node took or refused, built again from what they mean.

use akash_chain::tx::message::{deployment, market};
use akash_chain::tx::{Fee, Message, SignedTx, TxHash, TxPlan, Unsigned};
use akash_keys::SecretKey;
use akash_types::{Deposit, LeaseClosedReason};
use serde_json::Value as Json;

use crate::query_support::{self, fixture_json, from_base64, from_hex};
use crate::tx_support::{self, Key, coins, message};

const RECORDED: [&str; 12] = [
    "tx-createbid-ok.json",
    "tx-createbid-unknown-order.json",
    "tx-createbid-order-not-open.json",
    "tx-createbid-duplicate-sim-and-deliver.json",
    "tx-createbid-batch50.json",
    "tx-closebid-ok.json",
    "tx-closebid-unknown.json",
    "tx-no-fee.json",
    "tx-insufficient-fee.json",
    "tx-wrong-sequence-high.json",
    "tx-bad-signature.json",
    "tx-wrong-chain-id.json",
];

fn hex(bytes: &[u8]) -> String {
    hex::encode(bytes)
}

fn plan_fee(recorded: &Json) -> Fee {
    let fee = &recorded["tx_json"]["auth_info"]["fee"];
    Fee {
        amount: coins(&fee["amount"]),
        gas_limit: fee["gas_limit"].as_str().unwrap().parse().unwrap(),
        granter: None,
    }
}

#[test]
fn every_recorded_transaction_comes_out_byte_for_byte() {
    let key = Key::provider();
    let keys = fixture_json("throwaway-keys.json");
    let secret = SecretKey::from_hex(keys["provider_privkey_hex"].as_str().unwrap()).unwrap();
    for file in RECORDED {
        let recorded = fixture_json(file);
        let messages: Vec<Message> = recorded["tx_json"]["body"]["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(message)
            .collect();
        let fee = plan_fee(&recorded);
        // The one that was signed for another chain names the right one in the recording.
        let chain_id = if file == "tx-wrong-chain-id.json" {
            signed_chain_id(&recorded)
        } else {
            recorded["chain_id"].as_str().unwrap().to_owned()
        };
        let plan = TxPlan {
            chain_id: &chain_id,
            account_number: recorded["account_number"].as_u64().unwrap(),
            sequence: recorded["sequence"].as_u64().unwrap(),
            messages: &messages,
            fee: &fee,
            memo: "",
            timeout_height: 0,
        };
        let unsigned = Unsigned::new(&plan, &key).unwrap();
        assert_eq!(hex(unsigned.body_bytes()), recorded["body_hex"], "{file}");
        assert_eq!(hex(unsigned.auth_info_bytes()), recorded["auth_info_hex"], "{file}");
        assert_eq!(hex(unsigned.sign_bytes()), recorded["sign_doc_hex"], "{file}");
        let signed = unsigned.sign();
        let by_keyring_key = Unsigned::new(&plan, &secret).unwrap().sign();
        assert_eq!(by_keyring_key, signed, "{file}");
        let raw = from_base64(&recorded["tx_raw_b64"]);
        if file == "tx-bad-signature.json" {
            assert_ne!(hex(signed.raw()), hex(&raw), "{file}");
        } else {
            assert_eq!(hex(signed.raw()), hex(&raw), "{file}");
            assert_eq!(signed.hash().to_string(), recorded["tx_hash"], "{file}");
            let signature = from_hex(&recorded["signature_hex"]);
            assert!(signed.raw().ends_with(&signature), "{file}");
        }
        let again = SignedTx::from_raw(raw);
        assert_eq!(again.hash().to_string(), recorded["tx_hash"], "{file}");
        assert_eq!(again.hash(), recorded["tx_hash"].as_str().unwrap().parse::<TxHash>().unwrap());
    }
}

fn signed_chain_id(recorded: &Json) -> String {
    use prost::Message as _;
    let bytes = from_hex(&recorded["sign_doc_hex"]);
    akash_proto::cosmos::tx::v1beta1::SignDoc::decode(bytes.as_slice()).unwrap().chain_id
}

/// The only message of the only transaction of a recorded block.
fn block_message(file: &str) -> (String, String) {
    use prost::Message as _;
    let block = fixture_json(file);
    let raw = from_base64(&block["result"]["block"]["data"]["txs"][0]);
    let tx = akash_proto::cosmos::tx::v1beta1::Tx::decode(raw.as_slice()).unwrap();
    let [any] = tx.body.unwrap().messages.try_into().unwrap();
    (any.type_url, hex(&any.value))
}

fn packed(message: &Message) -> (String, String) {
    (message.type_url().to_owned(), hex(&message.as_any().value))
}

#[test]
fn messages_of_others_in_recorded_blocks_come_out_byte_for_byte() {
    let provider = Key::provider().address_text();
    let lease = format!("akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r/101/1/1/{provider}");
    let lease: akash_types::LeaseId = lease.parse().unwrap();
    let create_lease = market::create_lease(lease.bid_id()).unwrap();
    assert_eq!(packed(&create_lease), block_message("block-112.json"));
    assert_eq!(create_lease.signer(), lease.owner());
    let withdraw = market::withdraw_lease(lease).unwrap();
    assert_eq!(packed(&withdraw), block_message("block-117.json"));
    assert_eq!(withdraw.signer(), lease.provider());
    let close = market::close_lease(lease).unwrap();
    assert_eq!(packed(&close), block_message("block-247.json"));
    assert_eq!(close.signer(), lease.owner());

    let group = tx_support::group(&query_support::recording("group"));
    let deployment = deployment::create_deployment(deployment::CreateDeployment {
        id: lease.deployment_id(),
        groups: vec![group],
        hash: hex::decode("a231dadb0bfc6965a28cba981a6344e6399f50f7873cd717dfd75fa140ebb427")
            .unwrap()
            .try_into()
            .unwrap(),
        deposit: Deposit::from_balance("5000000uact".parse().unwrap()),
        reclamation_min_window: None,
    })
    .unwrap();
    assert_eq!(packed(&deployment), block_message("block-101.json"));

    // Made by the Go provider: a lease closed because no manifest came.
    let (kind, value) = block_message("goprovider-block-2302.json");
    assert_eq!(kind, "/akash.market.v1beta5.MsgCloseBid");
    let id = format!("akash18x4ql79u7te9dl6rxwt9kndpq9yurw3qfzcl5f/7302/1/1/{provider}");
    let close = market::close_bid(id.parse().unwrap(), LeaseClosedReason::MANIFEST_TIMEOUT);
    assert_eq!(packed(&close.unwrap()), (kind, value));
}
