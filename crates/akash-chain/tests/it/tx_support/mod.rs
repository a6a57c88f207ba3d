//! Reading recorded messages as what they mean, and the keys they were signed with.

use akash_chain::tx::message::market::{self, CreateBid};
use akash_chain::tx::{Message, Signer};
use akash_types::{
    Address, BidId, Coin, Cpu, DeploymentId, Deposit, Endpoint, Gpu, GroupId, GroupSpec,
    LeaseClosedReason, Memory, OrderId, ResourceOffer, Resources, Storage,
};
use k256::ecdsa::signature::Signer as _;
use k256::ecdsa::{Signature, SigningKey};
use serde_json::Value as Json;

use crate::query_support::{fixture_json, from_base64, from_hex};

pub(crate) struct Key {
    key: SigningKey,
    address: Address,
}

impl Key {
    pub(crate) fn provider() -> Self {
        let keys = fixture_json("throwaway-keys.json");
        let secret = from_hex(&keys["provider_privkey_hex"]);
        Self {
            key: SigningKey::from_slice(&secret).unwrap(),
            address: keys["provider"]["address"].as_str().unwrap().parse().unwrap(),
        }
    }

    pub(crate) fn address_text(&self) -> String {
        self.address.to_string()
    }
}

impl Signer for Key {
    fn address(&self) -> Address {
        self.address
    }

    fn public_key(&self) -> [u8; 33] {
        self.key.verifying_key().to_sec1_point(true).as_bytes().try_into().unwrap()
    }

    fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        let signature: Signature = self.key.sign(bytes);
        signature.normalize_s().to_bytes().into()
    }
}

fn text(json: &Json) -> &str {
    json.as_str().unwrap()
}

fn small(json: &Json) -> u32 {
    u32::try_from(json.as_u64().unwrap()).unwrap()
}

pub(crate) fn coins(json: &Json) -> Vec<Coin> {
    json.as_array().unwrap().iter().map(coin).collect()
}

fn coin(json: &Json) -> Coin {
    format!("{}{}", text(&json["amount"]), text(&json["denom"])).parse().unwrap()
}

fn bid_id(json: &Json) -> BidId {
    let owner = text(&json["owner"]).parse().unwrap();
    let deployment = DeploymentId::new(owner, text(&json["dseq"]).parse().unwrap()).unwrap();
    let group = GroupId::new(deployment, small(&json["gseq"])).unwrap();
    let order = OrderId::new(group, small(&json["oseq"])).unwrap();
    order.bid_id(text(&json["provider"]).parse().unwrap()).with_bseq(small(&json["bseq"]))
}

fn amount(json: &Json) -> u64 {
    text(&json["val"]).parse().unwrap()
}

fn offer(json: &Json) -> ResourceOffer {
    let from = &json["resources"];
    let no_attributes = |json: &Json| assert_eq!(json["attributes"], Json::Array(vec![]));
    let volume = |json: &Json| {
        no_attributes(json);
        Storage {
            name: text(&json["name"]).to_owned(),
            quantity: amount(&json["quantity"]),
            attributes: vec![],
        }
    };
    let endpoint = |json: &Json| {
        assert_eq!(text(&json["kind"]), "SHARED_HTTP");
        Endpoint {
            kind: akash_types::EndpointKind::SharedHttp,
            sequence_number: small(&json["sequence_number"]),
        }
    };
    for part in ["cpu", "memory", "gpu"] {
        no_attributes(&from[part]);
    }
    ResourceOffer {
        resources: Resources {
            id: small(&from["id"]),
            cpu: Cpu { units: amount(&from["cpu"]["units"]), attributes: vec![] },
            memory: Memory { quantity: amount(&from["memory"]["quantity"]), attributes: vec![] },
            storage: from["storage"].as_array().unwrap().iter().map(volume).collect(),
            gpu: Gpu { units: amount(&from["gpu"]["units"]), attributes: vec![] },
            endpoints: from["endpoints"].as_array().unwrap().iter().map(endpoint).collect(),
        },
        count: small(&json["count"]),
        prices: None,
    }
}

/// A message as the CLI would be told it.
pub(crate) fn message(json: &Json) -> Message {
    let id = bid_id(&json["id"]);
    match text(&json["@type"]) {
        "/akash.market.v1beta5.MsgCreateBid" => {
            assert_eq!(json["deposit"]["sources"], serde_json::json!(["balance"]));
            assert_eq!(json["reclamation_window"], Json::Null);
            let price = &json["price"];
            let price = format!("{}{}", text(&price["amount"]), text(&price["denom"]));
            market::create_bid(CreateBid {
                id,
                price: price.parse().unwrap(),
                deposit: Deposit::from_balance(coin(&json["deposit"]["amount"])),
                resources_offer: json["resources_offer"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(offer)
                    .collect(),
                reclamation_window: None,
            })
            .unwrap()
        }
        "/akash.market.v1beta5.MsgCloseBid" => {
            let reason = match text(&json["reason"]) {
                "lease_closed_reason_unspecified" => LeaseClosedReason::UNSPECIFIED,
                other => panic!("reason {other}"),
            };
            market::close_bid(id, reason).unwrap()
        }
        other => panic!("message {other}"),
    }
}

pub(crate) fn group(recording: &Json) -> GroupSpec {
    use prost::Message as _;
    let bytes = from_base64(&recording["response_b64"]);
    let answer =
        akash_proto::akash::deployment::v1beta4::QueryGroupResponse::decode(bytes.as_slice())
            .unwrap();
    answer.group.unwrap().group_spec.unwrap().try_into().unwrap()
}
