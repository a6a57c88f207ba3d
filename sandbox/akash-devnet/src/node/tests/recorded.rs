//! Merkle roots, ids and signatures against blocks that a real node made.

use akash_proto::tendermint::types as wire;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use serde_json::Value;

use super::super::*;
use crate::state::TxResult;

fn load(name: &str) -> Value {
    let path = format!("{}/../../fixtures/chain/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn hash(value: &Value) -> Hash {
    parse_hash(value.as_str().unwrap()).unwrap()
}

fn number(value: &Value) -> i64 {
    text(value).parse().unwrap()
}

fn id(value: &Value) -> BlockId {
    let parts = value["parts"]["total"].as_u64().unwrap();
    let parts = u32::try_from(parts).unwrap();
    BlockId { hash: hash(&value["hash"]), parts, parts_hash: hash(&value["parts"]["hash"]) }
}

fn address(value: &Value) -> ConsensusAddress {
    hex::decode(text(value)).unwrap().try_into().unwrap()
}

fn header(value: &Value) -> Header {
    Header {
        chain_id: text(&value["chain_id"]),
        height: number(&value["height"]).unsigned_abs(),
        time_unix_nanos: parse_rfc3339(&text(&value["time"])).unwrap(),
        last_block_id: Some(id(&value["last_block_id"])),
        last_commit_hash: hash(&value["last_commit_hash"]),
        data_hash: hash(&value["data_hash"]),
        validators_hash: hash(&value["validators_hash"]),
        consensus_hash: hash(&value["consensus_hash"]),
        app_hash: hash(&value["app_hash"]),
        last_results_hash: hash(&value["last_results_hash"]),
        evidence_hash: hash(&value["evidence_hash"]),
        proposer: address(&value["proposer_address"]),
    }
}

fn commit(value: &Value) -> Commit {
    let signature = &value["signatures"][0];
    let vote = Vote {
        validator: address(&signature["validator_address"]),
        time_unix_nanos: parse_rfc3339(&text(&signature["timestamp"])).unwrap(),
        signature: BASE64_STANDARD.decode(text(&signature["signature"])).unwrap(),
    };
    let height = number(&value["height"]).unsigned_abs();
    Commit { height, block_id: Some(id(&value["block_id"])), vote: Some(vote) }
}

#[test]
fn ids_of_recorded_blocks_follow_from_their_content() {
    for name in ["block-101.json", "block-102.json", "block-247.json", "goprovider-block-403.json"]
    {
        let recorded = &load(name)["result"];
        let block = &recorded["block"];
        let header = header(&block["header"]);
        let txs: Vec<Bytes> = block["data"]["txs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tx| BASE64_STANDARD.decode(text(tx)).unwrap().into())
            .collect();
        let commit = commit(&block["last_commit"]);
        assert_eq!(commit.hash(), header.last_commit_hash, "{name}");
        assert_eq!(block::data_hash(&block::hash_txs(&txs)), header.data_hash, "{name}");
        let (computed, _) = block::identify(&header, &txs, &commit);
        assert_eq!(computed, id(&recorded["block_id"]), "{name}");
    }
}

#[test]
fn the_recorded_validator_signed_what_we_would_sign() {
    let status = load("rpc-status.json");
    let info = &status["result"]["validator_info"];
    let key = BASE64_STANDARD.decode(text(&info["pub_key"]["value"])).unwrap();
    assert_eq!(address_of(&key), address(&info["address"]));
    let block = &load("block-101.json")["result"]["block"];
    let power = number(&info["voting_power"]);
    assert_eq!(commit::set_hash(&key, power), hash(&block["header"]["validators_hash"]));

    let commit = commit(&block["last_commit"]);
    let vote = commit.vote.clone().unwrap();
    let id = commit.block_id.unwrap();
    let bytes = sign_bytes("local", commit.height, &id, vote.time_unix_nanos);
    let key = ed25519_dalek::VerifyingKey::from_bytes(&key.try_into().unwrap()).unwrap();
    let signature = ed25519_dalek::Signature::from_slice(&vote.signature).unwrap();
    key.verify_strict(&bytes, &signature).unwrap();
    assert_eq!(commit.to_wire().signatures[0].block_id_flag(), wire::BlockIdFlag::Commit);
}

#[test]
fn the_recorded_limits_and_results_have_the_recorded_digests() {
    let limits = BlockLimits { max_bytes: 22_020_096, max_gas: None };
    let next = header(&load("block-102.json")["result"]["block"]["header"]);
    assert_eq!(limits.hash(), next.consensus_hash);

    let results = &load("block_results-101.json")["result"]["txs_results"];
    let results = results.as_array().unwrap().iter().map(|result| TxResult {
        code: u32::try_from(result["code"].as_u64().unwrap()).unwrap(),
        data: BASE64_STANDARD.decode(text(&result["data"])).unwrap(),
        gas_wanted: number(&result["gas_wanted"]),
        gas_used: number(&result["gas_used"]),
        ..TxResult::default()
    });
    let mut node = Node::new(Chain::new("x", 1, 0), super::fake::Fake::default());
    let mut block = (*node.produce_block(0)).clone();
    block.results = results.collect();
    assert_eq!(block.results_hash(), next.last_results_hash);
}
