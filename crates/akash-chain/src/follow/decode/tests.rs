use akash_types::{ChainEvent, LeaseClosedReason};
use serde_json::{Value, json};

use super::*;
use crate::follow::{BlockEffects, TxPlace};

fn recorded(name: &str) -> String {
    let path = format!("{}/../../fixtures/chain/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

/// The results of a block as a node wrote them.
fn block(name: &str) -> (u64, BlockEffects) {
    let answer: Value = serde_json::from_str(&recorded(name)).unwrap();
    read_results(&answer["result"].to_string()).unwrap()
}

fn event(kind: &str, attributes: Value) -> BlockEffects {
    let attributes: Vec<Value> = attributes
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| json!({"key": key, "value": value, "index": true}))
        .collect();
    let events = json!([{"type": kind, "attributes": attributes}]);
    let results = json!({"height": "1", "txs_results": null, "finalize_block_events": events});
    read_results(&results.to_string()).unwrap().1
}

const TENANT: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r";
const PROVIDER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

#[test]
fn recorded_blocks_give_their_events_in_order() {
    let (height, effects) = block("block_results-101.json");
    assert_eq!((height, effects.unreadable), (101, 0));
    let place = Some(TxPlace { index: 0, code: 0 });
    let [created, order] = effects.events.as_slice() else { panic!("{effects:?}") };
    assert_eq!((created.tx, order.tx), (place, place));
    let ChainEvent::DeploymentCreated { id, hash } = &created.event else { panic!() };
    assert_eq!(id.to_string(), format!("{TENANT}/101"));
    assert_eq!(hash[..4], [0xa2, 0x31, 0xda, 0xdb]);
    let ChainEvent::OrderCreated { id } = &order.event else { panic!() };
    assert_eq!(id.to_string(), format!("{TENANT}/101/1/1"));

    let (_, effects) = block("block_results-102.json");
    let [bid] = effects.events.as_slice() else { panic!("{effects:?}") };
    let ChainEvent::BidCreated { id, price } = &bid.event else { panic!() };
    assert_eq!(id.to_string(), format!("{TENANT}/101/1/1/{PROVIDER}"));
    assert_eq!(price.as_ref().unwrap().to_string(), "500.000000000000000000uact");

    let (_, effects) = block("block_results-112.json");
    assert!(matches!(effects.events[0].event, ChainEvent::LeaseCreated { .. }));
    let (_, effects) = block("block_results-117.json");
    assert_eq!(effects.events, []);

    let (_, effects) = block("goprovider-block_results-2302.json");
    let [paused, lease, bid, order] = effects.events.as_slice() else { panic!("{effects:?}") };
    assert!(matches!(paused.event, ChainEvent::GroupPaused { .. }));
    assert!(matches!(lease.event, ChainEvent::LeaseClosed { reason: Some(_), .. }));
    assert!(matches!(bid.event, ChainEvent::BidClosed { .. }));
    assert!(matches!(order.event, ChainEvent::OrderClosed { .. }));
}

#[test]
fn transactions_show_who_signed_them() {
    let (_, effects) = block("block_results-101.json");
    let [tx] = effects.txs.as_slice() else { panic!("{effects:?}") };
    assert!(tx.is_ok());
    assert_eq!((tx.gas_wanted, tx.gas_used), (250_000, 139_805));
    assert_eq!(tx.sequence_of(&TENANT.parse().unwrap()), Some(2));
    assert_eq!(tx.sequence_of(&PROVIDER.parse().unwrap()), None);
    let signature =
        "Di8XJ3SXXC7fKLJtBTj+BSI97HDnEicjmEytKKQUQfNef8WSmUaHvd6OiqJxUVOJKp36dy6Ly/YT05wJLbltVw==";
    assert_eq!(tx.signatures, [signature]);
}

#[test]
fn failed_transactions_show_who_signed_them_and_why_they_failed() {
    let answer: Value =
        serde_json::from_str(&recorded("tx-createbid-order-not-open.json")).unwrap();
    let result = &answer["tx"]["result"]["tx_result"];
    let results = json!({"height": "9", "txs_results": [result], "finalize_block_events": null});
    let (height, effects) = read_results(&results.to_string()).unwrap();
    assert_eq!((height, effects.events.len()), (9, 0));
    let [tx] = effects.txs.as_slice() else { panic!("{effects:?}") };
    assert_eq!(u64::from(tx.code), result["code"].as_u64().unwrap());
    assert!(!tx.is_ok() && tx.log.contains("message index: 0"), "{tx:?}");
    assert_eq!(tx.codespace, result["codespace"].as_str().unwrap());
    assert_eq!(tx.sequence_of(&PROVIDER.parse().unwrap()), Some(8));
    assert_eq!(tx.signatures.len(), 1);
}

#[test]
fn every_kind_of_event_is_read() {
    let id = json!({"owner": TENANT, "dseq": "5", "gseq": 1, "oseq": 2}).to_string();
    let bid = json!({"owner": TENANT, "dseq": "5", "gseq": 1, "oseq": 2, "provider": PROVIDER,
        "bseq": 0})
    .to_string();
    let price = r#"{"denom":"uact","amount":"12.500000000000000000"}"#;
    let hash = format!("\"{}=\"", "A".repeat(43));
    let quoted = |text: &str| format!("\"{text}\"");
    for (kind, attributes) in [
        ("market.v1.EventOrderCreated", json!({"id": id, "msg_index": "0"})),
        ("market.v1.EventOrderClosed", json!({"id": id})),
        ("market.v1.EventBidCreated", json!({"id": bid, "price": price})),
        ("market.v1.EventBidClosed", json!({"id": bid})),
        ("market.v1.EventLeaseCreated", json!({"id": bid, "price": price})),
        ("market.v1.EventLeaseClosed", json!({"id": bid, "reason": quoted("lease_closed_owner")})),
        (
            "market.v1.EventLeaseReclaimStarted",
            json!({"id": bid, "reason": "10777", "deadline": quoted("1785500000")}),
        ),
        ("deployment.v1.EventDeploymentCreated", json!({"id": id, "hash": hash})),
        ("deployment.v1.EventDeploymentUpdated", json!({"id": id, "hash": hash})),
        ("deployment.v1.EventDeploymentClosed", json!({"id": id})),
        ("deployment.v1.EventGroupStarted", json!({"id": id})),
        ("deployment.v1.EventGroupPaused", json!({"id": id})),
        ("deployment.v1.EventGroupClosed", json!({"id": id})),
        (
            "audit.v1.EventTrustedAuditorCreated",
            json!({"owner": quoted(TENANT), "auditor": quoted(PROVIDER)}),
        ),
        (
            "audit.v1.EventTrustedAuditorDeleted",
            json!({"owner": quoted(TENANT), "auditor": quoted(PROVIDER)}),
        ),
        ("provider.v1beta4.EventProviderCreated", json!({"owner": quoted(PROVIDER)})),
        ("provider.v1beta4.EventProviderUpdated", json!({"owner": quoted(PROVIDER)})),
        ("provider.v1beta4.EventProviderDeleted", json!({"owner": quoted(PROVIDER)})),
    ] {
        let effects = event(&format!("akash.{kind}"), attributes);
        assert_eq!((effects.events.len(), effects.unreadable), (1, 0), "{kind}");
        let [found] = effects.events.as_slice() else { panic!() };
        let name = format!("{:?}", found.event);
        let name = name.split([' ', '{']).next().unwrap().to_owned();
        assert!(kind.ends_with(&format!("Event{name}")), "{kind} became {name}");
        assert_eq!(found.tx, None);
    }
    let effects = event(
        "akash.market.v1.EventLeaseReclaimStarted",
        json!({"id": bid, "reason": "10777", "deadline": quoted("1785500000")}),
    );
    let ChainEvent::LeaseReclaimStarted { reason, deadline, .. } = &effects.events[0].event else {
        panic!("{effects:?}")
    };
    assert_eq!((reason.unwrap().code(), *deadline), (10_777, 1_785_500_000));
}

#[test]
fn what_cannot_be_read_is_counted_and_what_nobody_wants_is_not() {
    for attributes in [
        json!({}),
        json!({"id": ""}),
        json!({"id": "{}"}),
        json!({"id": r#"{"owner":"nobody","dseq":"1","gseq":1,"oseq":1}"#}),
        json!({"id": format!(r#"{{"owner":"{TENANT}","dseq":"0","gseq":1,"oseq":1}}"#)}),
        json!({"id": format!(r#"{{"owner":"{TENANT}","dseq":"1","gseq":1}}"#)}),
    ] {
        let effects = event("akash.market.v1.EventOrderCreated", attributes.clone());
        assert_eq!((effects.events.len(), effects.unreadable), (0, 1), "{attributes}");
    }
    for kind in ["transfer", "akash.market.v1.EventNew", "akash.market.v2.EventOrderCreated", ""] {
        assert_eq!(event(kind, json!({"id": "x"})), BlockEffects::default(), "{kind}");
    }
    // An unknown reason must not hide that a lease is closed.
    let id = json!({"owner": TENANT, "dseq": "5", "gseq": 1, "oseq": 2, "provider": PROVIDER});
    for reason in ["0", "\"lease_closed_new\"", "null", "7.5"] {
        let attributes = json!({"id": id.to_string(), "reason": reason});
        let effects = event("akash.market.v1.EventLeaseClosed", attributes);
        let closed =
            matches!(effects.events[0].event, ChainEvent::LeaseClosed { reason: None, .. });
        assert!(closed, "{reason}: {effects:?}");
    }
    let named = json!({"id": id.to_string(), "reason": "\"lease_closed_reason_unstable\""});
    let effects = event("akash.market.v1.EventLeaseClosed", named);
    let ChainEvent::LeaseClosed { reason, .. } = &effects.events[0].event else { panic!() };
    assert_eq!(*reason, Some(LeaseClosedReason::UNSTABLE));
}

#[test]
fn results_of_another_shape_are_refused() {
    for json in ["", "{}", "[]", r#"{"height":5}"#, r#"{"height":"x"}"#, r#"{"height":"-1"}"#] {
        assert!(read_results(json).is_err(), "{json}");
    }
    assert!(read_results(r#"{"height":"5","txs_results":null}"#).is_ok());
}

#[test]
fn recorded_frames_tell_of_blocks() {
    let frames: Vec<Frame> = recorded("websocket.jsonl").lines().map(read_frame).collect();
    assert_eq!(
        frames[..4],
        [Frame::Subscribed, Frame::Subscribed, Frame::Subscribed, Frame::Block(99)]
    );
    assert!(frames.iter().filter(|frame| matches!(frame, Frame::Block(_))).count() > 1);
    let refused = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error","data":"already subscribed"}}"#;
    assert_eq!(read_frame(refused), Frame::Refused("already subscribed".to_owned()));
    for other in ["", "[]", "{}", "7", r#"{"result":{"data":{"value":{"header":{"height":"x"}}}}}"#]
    {
        assert_eq!(read_frame(other), Frame::Other, "{other}");
    }
}
