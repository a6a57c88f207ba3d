//! What a recorded chain did, done again: the same transactions, byte for byte, with the same
//! results, events and answers.

use std::fs;
use std::path::PathBuf;

use akash_devnet::state::{Event, State, TxResult};
use akash_proto::akash::cert::v1::{MsgCreateCertificate, QueryCertificatesResponse};
use akash_proto::to_any;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prost::Message;
use serde_json::Value;

use crate::state::support::{
    Chain, Draft, Wallet, close_deployment, coin, create_deployment, create_provider,
};

/// Throwaway keys of the recorded chain, as derived from its mnemonics.
const PROVIDER: &str = "3ad592b047203820c0d5c09db22a02e05926ab6c88c8c8aed41dd37623d6d6fd";
const TENANT: &str = "14d38e1244421bdce3e3bf32ae0402578798f7294341342731674b4de37727b6";

fn fixture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/chain").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json(name: &str) -> Value {
    let value: Value = serde_json::from_str(&fixture(name)).unwrap();
    value.get("result").cloned().unwrap_or(value)
}

fn bytes(value: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(value.as_str().unwrap()).unwrap()
}

/// Calls of the recorded node by name.
fn calls() -> Vec<Value> {
    fixture("grpc.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn call(name: &str) -> Value {
    calls().into_iter().find(|call| call["name"] == name).unwrap()
}

fn recorded_events(result: &Value) -> Vec<Event> {
    let attribute = |attribute: &Value| {
        let text = |key: &str| attribute[key].as_str().unwrap().to_owned();
        (text("key"), text("value"), attribute["index"].as_bool().unwrap())
    };
    let event = |event: &Value| Event {
        kind: event["type"].as_str().unwrap().to_owned(),
        attributes: event["attributes"].as_array().unwrap().iter().map(attribute).collect(),
    };
    result["events"].as_array().unwrap().iter().map(event).collect()
}

fn assert_same(name: &str, result: &TxResult, recorded: &Value) {
    assert_eq!(Some(u64::from(result.code)), recorded["code"].as_u64(), "{name}: {}", result.log);
    assert_eq!(result.codespace, recorded["codespace"].as_str().unwrap(), "{name}");
    assert_eq!(result.log, recorded["log"].as_str().unwrap(), "{name}");
    let data = if recorded["data"].is_null() { Vec::new() } else { bytes(&recorded["data"]) };
    assert_eq!(result.data, data, "{name}");
    assert_eq!(result.gas_wanted.to_string(), recorded["gas_wanted"].as_str().unwrap(), "{name}");
    assert_eq!(result.events, recorded_events(recorded), "{name}");
    let gas: i64 = recorded["gas_used"].as_str().unwrap().parse().unwrap();
    let difference = (result.gas_used - gas).abs() * 100 / gas;
    assert!(difference <= 12, "{name}: used {}, recorded {gas}", result.gas_used);
}

struct Replay {
    chain: Chain,
    provider: Wallet,
    tenant: Wallet,
}

impl Replay {
    /// The recorded chain after its first transactions, which were not recorded: certificates,
    /// the provider, deployment 100. Their fees are chosen so that balances agree.
    fn new() -> Self {
        let genesis = json("genesis.json");
        let accounts = genesis["app_state"]["auth"]["accounts"].as_array().unwrap().clone();
        let rich =
            || vec!["10000000000000uact".parse().unwrap(), "10000000000000uakt".parse().unwrap()];
        let accounts = accounts
            .iter()
            .map(|account| (account["address"].as_str().unwrap().parse().unwrap(), rich()))
            .collect();
        let genesis = akash_devnet::state::Genesis::for_devnet(
            genesis["chain_id"].as_str().unwrap(),
            crate::state::support::START,
            accounts,
        );
        let mut replay = Self {
            chain: Chain::with(&genesis),
            provider: Wallet::from_hex(PROVIDER),
            tenant: Wallet::from_hex(TENANT),
        };
        replay.chain.skip_to(53);
        for (name, is_provider) in [("certs_tenant", false), ("certs_provider", true)] {
            let answer = bytes(&call(name)["response_b64"]);
            let answer = QueryCertificatesResponse::decode(answer.as_slice()).unwrap();
            let certificate = answer.certificates[0].certificate.clone().unwrap();
            let wallet = if is_provider { &replay.provider } else { &replay.tenant };
            let message = MsgCreateCertificate {
                owner: wallet.text(),
                cert: certificate.cert,
                pubkey: certificate.pubkey,
            };
            let mut draft = Draft::new(vec![to_any(&message)]);
            draft.fee.amount = vec![coin(2_407, "uakt")];
            let tx = replay.chain.signed(wallet, &draft);
            let result = replay.chain.state.deliver_tx(&tx);
            assert_eq!((result.code, result.log.as_str()), (0, ""));
        }
        let mut draft = Draft::new(vec![to_any(&create_provider(&replay.provider))]);
        draft.fee.amount = vec![coin(2_407, "uakt")];
        let tx = replay.chain.signed(&replay.provider, &draft);
        assert!(replay.chain.state.deliver_tx(&tx).is_ok());
        replay.chain.skip_to(54);
        let create = create_deployment(&replay.tenant, 100);
        replay.chain.send(&replay.tenant, &create);
        replay
    }

    /// Executes the only transaction of a recorded block at its height.
    fn block(&mut self, height: u64) {
        self.chain.skip_to(height);
        let block = json(&format!("block-{height}.json"));
        let results = json(&format!("block_results-{height}.json"));
        let tx = bytes(&block["block"]["data"]["txs"][0]);
        let result = self.chain.state.deliver_tx(&tx);
        assert_same(&format!("block {height}"), &result, &results["txs_results"][0]);
    }

    /// Simulates, checks and executes a recorded transaction.
    fn tx(&mut self, name: &str) {
        let recorded = json(name);
        let tx = bytes(&recorded["tx_raw_b64"]);
        if let Some(height) = recorded["height"].as_str() {
            self.chain.skip_to(height.parse().unwrap());
        }
        self.simulate(name, &recorded, &tx);
        let check = self.chain.state.clone().check_tx(&tx);
        let expected = &recorded["broadcast_tx_sync"]["result"];
        assert_eq!(Some(u64::from(check.code)), expected["code"].as_u64(), "{name}");
        assert_eq!(check.log, expected["log"].as_str().unwrap(), "{name}");
        assert_eq!(check.codespace, expected["codespace"].as_str().unwrap(), "{name}");
        if let Some(delivered) = recorded.get("tx") {
            let result = self.chain.state.deliver_tx(&tx);
            assert_same(name, &result, &delivered["result"]["tx_result"]);
        }
    }

    fn simulate(&self, name: &str, recorded: &Value, tx: &[u8]) {
        let simulated = self.chain.state.simulate(tx);
        match recorded["simulate"]["message"].as_str() {
            None => {
                let gas = simulated.unwrap().gas_used;
                let delivered = self.chain.state.clone().deliver_tx(tx).gas_used;
                assert_eq!(i64::try_from(gas).unwrap(), delivered, "{name}");
            }
            Some(text) => {
                let ours = simulated.unwrap_err().to_string();
                let without_gas =
                    |text: &str| text.split(" with gas used: '").next().map(str::to_owned);
                assert_eq!(without_gas(&ours), without_gas(text), "{name}");
            }
        }
    }
}

#[test]
fn recorded_transactions_have_the_recorded_results() {
    let mut replay = Replay::new();
    for height in [101, 102, 112, 117] {
        replay.block(height);
    }
    replay.tx("tx-createbid-ok.json");
    replay.tx("tx-createbid-duplicate-sim-and-deliver.json");
    replay.tx("tx-createbid-unknown-order.json");
    // The transaction between the recorded ones is not known; any that counts the sequence will do.
    let filler = create_provider(&replay.provider);
    let refused = replay.chain.refused(&replay.provider, &filler);
    assert_eq!((refused.0.as_str(), refused.1), ("provider", 4));
    replay.tx("tx-createbid-order-not-open.json");
    for refused in [
        "tx-bad-signature.json",
        "tx-wrong-chain-id.json",
        "tx-insufficient-fee.json",
        "tx-no-fee.json",
        "tx-wrong-sequence-high.json",
    ] {
        replay.tx(refused);
    }
    replay.tx("tx-closebid-unknown.json");
    replay.tx("tx-closebid-ok.json");
    replay.block(247);
    replay.chain.skip_to(248);
    let close = close_deployment(&replay.tenant, 100);
    let result = replay.chain.send(&replay.tenant, &close);
    let recorded = recorded_events(&json("deployment-100-close.json"));
    let of_messages = |events: &[Event]| events.iter().skip(7).cloned().collect::<Vec<_>>();
    assert_eq!(of_messages(&result.events), of_messages(&recorded));
}

#[test]
fn recorded_queries_have_the_recorded_answers() {
    let mut replay = Replay::new();
    for height in [101, 102, 112, 117] {
        replay.block(height);
    }
    let of_the_node = ["node_info", "latest_block", "akash_discovery"];
    let mut compared = 0;
    for call in calls() {
        let name = call["name"].as_str().unwrap();
        if of_the_node.contains(&name) {
            continue;
        }
        let request = hex::decode(call["request_hex"].as_str().unwrap()).unwrap();
        let path = call["method"].as_str().unwrap();
        let answer = replay.chain.state.query(path, &request);
        let abci = &call["abci_query"]["result"]["response"];
        match answer {
            Ok(answer) => {
                assert_eq!(call["code"], 0, "{name}");
                assert_eq!(
                    hex::encode(&answer),
                    hex::encode(bytes(&call["response_b64"])),
                    "{name}"
                );
                assert_eq!(answer, bytes(&abci["value"]), "{name}");
            }
            Err(error) => {
                assert_eq!(call["code"], error.grpc_code().number(), "{name}");
                assert_eq!(call["message"], error.grpc_text(), "{name}");
                assert_eq!(abci["code"], error.abci_code(), "{name}");
                assert_eq!(abci["log"], error.abci_log(), "{name}");
            }
        }
        compared += 1;
    }
    assert_eq!(compared, 33);
}

#[test]
fn escrow_at_the_lease_is_as_recorded() {
    let mut replay = Replay::new();
    for height in [101, 102, 112] {
        replay.block(height);
    }
    let state: &State = &replay.chain.state;
    for (path, recorded) in [
        ("/akash.escrow.v1.Query/Accounts", "q-escrow-accounts.json"),
        ("/akash.escrow.v1.Query/Payments", "q-escrow-payments.json"),
    ] {
        let recorded = json(recorded).to_string();
        let answer = state.query(path, &[]).unwrap();
        // Both name the same amounts in the same order; the forms differ.
        let ours = String::from_utf8_lossy(&answer).into_owned();
        let mut rest = ours.as_str();
        for xid in recorded.split("\"xid\":\"").skip(1).map(|part| part.split('"').next().unwrap())
        {
            let at = rest.find(xid).unwrap_or_else(|| panic!("{xid} in {rest}"));
            rest = &rest[at + xid.len()..];
        }
    }
}

#[test]
fn closing_a_lease_by_its_provider_reports_as_recorded() {
    let recorded = recorded_events(&json("goprovider-block_results-2302.json")["txs_results"][0]);
    let mut market = crate::state::support::Market::new(1);
    market.lease(7302);
    let mut close = crate::state::support::close_bid(&market.tenant, 7302, market.provider());
    close.reason = 10_003;
    let result = market.chain.send(&market.providers[0], &close);
    let shape = |events: &[Event]| {
        let keys = |event: &Event| {
            let keys: Vec<_> = event.attributes.iter().map(|(key, ..)| key.clone()).collect();
            (event.kind.clone(), keys)
        };
        events.iter().map(keys).collect::<Vec<_>>()
    };
    assert_eq!(shape(&result.events), shape(&recorded));
    let reason =
        |events: &[Event]| events.iter().find_map(|event| event.get("reason").map(str::to_owned));
    assert_eq!(reason(&result.events), reason(&recorded));
}
