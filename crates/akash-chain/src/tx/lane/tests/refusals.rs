//! What a refused simulation proves, and what it does not.

use std::time::Duration;

use akash_types::{IntentId, Outcome};

use super::super::{AccountRead, Effect, Input, Simulated, Verified};
use super::build::{close_bid, config, create_bid, intent, withdraw};
use super::hand::{Hand, ended, verified};
use crate::tx::SimulationRefusal;

#[test]
fn a_timeout_height_that_is_over_is_nobodys_fault() {
    let mut hand = Hand::ready(config());
    let effects = hand.feed(Input::Submit(vec![intent(1, create_bid(1), 100)]));
    let Some(Effect::Simulate(draft)) = effects.first() else { panic!("{effects:?}") };
    assert_eq!(draft.timeout_height, 110);
    // Blocks went by that nobody has shown to the lane yet.
    let refused = SimulationRefusal {
        text: "block height: 150, timeout height: 110: tx timeout height".to_owned(),
        message_index: None,
        sequence_mismatch: None,
        gas_used: None,
        height: None,
    };
    let answer = Simulated::Refused(refused);
    let effects = hand.feed(Input::Simulated { tx: draft.tx, answer });
    assert_eq!(effects, [Effect::ReadAccount]);
    let read = AccountRead { committed: 5, pending: 5, height: 149 };
    let effects = hand.feed(Input::AccountRead(read));
    let Some(Effect::Simulate(draft)) = effects.first() else { panic!("{effects:?}") };
    assert_eq!((draft.timeout_height, draft.intents.as_slice()), (159, &[IntentId(1)][..]));
}

#[test]
fn a_node_that_lags_cannot_say_that_a_bid_is_over() {
    let mut hand = Hand::ready(config());
    hand.block(120, Vec::new());
    let effects = hand.feed(Input::Submit(vec![intent(1, close_bid(1), 120)]));
    let Some(Effect::Simulate(draft)) = effects.first() else { panic!("{effects:?}") };
    let refused = SimulationRefusal {
        text: "failed to execute message; message index: 0: unknown bid".to_owned(),
        message_index: Some(0),
        sequence_mismatch: None,
        gas_used: None,
        height: None,
    };
    let answer = Simulated::Refused(refused);
    hand.feed(Input::Simulated { tx: draft.tx, answer });
    // It does not know the bid yet, so none is open.
    let effects = verified(&mut hand, 1, Verified::Holds { height: 110 });
    let [Effect::WakeAt(at)] = effects[..] else { panic!("{effects:?}") };
    hand.now = at;
    let effects = hand.feed(Input::Tick);
    assert!(matches!(effects[..], [Effect::Verify { .. }]), "{effects:?}");
    let effects = verified(&mut hand, 1, Verified::Holds { height: 120 });
    assert_eq!(ended(&effects), [(1, &Outcome::AlreadyHolds)]);
}

#[test]
fn a_refusal_stands_only_when_somebody_says_so() {
    let mut hand = Hand::ready(config());
    let effects = hand.feed(Input::Submit(vec![intent(1, create_bid(1), 100)]));
    let Some(Effect::Simulate(draft)) = effects.first() else { panic!("{effects:?}") };
    let refused = SimulationRefusal {
        text: "failed to execute message; message index: 0: order closed".to_owned(),
        message_index: Some(0),
        sequence_mismatch: None,
        gas_used: None,
        height: None,
    };
    let answer = Simulated::Refused(refused);
    hand.feed(Input::Simulated { tx: draft.tx, answer });
    for _ in 0..20 {
        let effects = verified(&mut hand, 1, Verified::Unavailable);
        let [Effect::WakeAt(at)] = effects[..] else { panic!("{effects:?}") };
        hand.now = at;
        let effects = hand.feed(Input::Tick);
        assert!(matches!(effects[..], [Effect::Verify { .. }]), "{effects:?}");
    }
    // It came into a block before the order closed.
    let effects = verified(&mut hand, 1, Verified::Holds { height: 100 });
    assert_eq!(ended(&effects), [(1, &Outcome::AlreadyHolds)]);
}

#[test]
fn a_refusal_is_judged_by_a_state_that_knows_what_was_refused() {
    for (height, ends) in [(103, false), (107, true)] {
        let mut hand = Hand::ready(config());
        let effects = hand.feed(Input::Submit(vec![intent(1, withdraw(7, 1), 100)]));
        let Some(Effect::Simulate(draft)) = effects.first() else { panic!("{effects:?}") };
        // The tenant closed in a block that was not followed yet.
        let refused = SimulationRefusal {
            text: "failed to execute message; message index: 0: payment closed".to_owned(),
            message_index: Some(0),
            sequence_mismatch: None,
            gas_used: None,
            height: Some(107),
        };
        let answer = Simulated::Refused(refused);
        hand.feed(Input::Simulated { tx: draft.tx, answer });
        // Another node behind the same address knows more than we do, but not that block.
        let effects = verified(&mut hand, 1, Verified::Open { height });
        let refused = matches!(ended(&effects)[..], [(1, Outcome::Refused { .. })]);
        assert_eq!(refused, ends, "{effects:?}");
        if !ends {
            hand.now += Duration::from_secs(1);
            hand.feed(Input::Tick);
            let effects = verified(&mut hand, 1, Verified::Holds { height: 107 });
            assert_eq!(ended(&effects), [(1, &Outcome::AlreadyHolds)]);
        }
    }
}
