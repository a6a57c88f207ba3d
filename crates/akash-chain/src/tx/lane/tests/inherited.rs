//! What an earlier lane may have sent.

use std::time::Duration;

use akash_types::{IntentId, Outcome};

use super::super::{AccountRead, Effect, Input, Lane, Verified};
use super::build::{config, create_bid, intent, withdraw};
use super::hand::{Hand, ended, simulated, verified};

/// A lane that was told of an intent before it knew its account, which is at sequence 5 and
/// height 100.
fn inherits(id: u64, action: akash_types::Action, created: u64) -> (Hand, Vec<Effect>) {
    let mut hand = Hand { lane: Lane::new(config()), now: Duration::ZERO };
    hand.feed(Input::Submit(vec![intent(id, action, created)]));
    let effects = hand.read(5, 5);
    (hand, effects)
}

fn asks(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::Verify { .. }))
}

/// Lets time pass until the question is asked again.
fn ask_again(hand: &mut Hand) {
    hand.now += Duration::from_secs(20);
    let effects = hand.feed(Input::Tick);
    assert!(asks(&effects), "{effects:?}");
}

#[test]
fn a_withdrawal_is_not_sent_while_the_bytes_of_an_earlier_one_may_come() {
    let (mut hand, effects) = inherits(1, withdraw(7, 1), 90);
    assert!(asks(&effects), "{effects:?}");
    for height in 100..110 {
        let effects = verified(&mut hand, 1, Verified::Open { height });
        assert_eq!(simulated(&effects), Vec::<Vec<u64>>::new(), "{height}");
        ask_again(&mut hand);
    }
    // The last block that could have had them has not.
    let effects = verified(&mut hand, 1, Verified::Open { height: 110 });
    assert_eq!(simulated(&effects), [vec![1]]);
}

#[test]
fn a_withdrawal_that_came_late_is_found_at_once() {
    let (mut hand, _) = inherits(1, withdraw(7, 1), 90);
    verified(&mut hand, 1, Verified::Open { height: 100 });
    ask_again(&mut hand);
    let effects = verified(&mut hand, 1, Verified::Holds { height: 101 });
    assert_eq!(ended(&effects), [(1, &Outcome::AlreadyHolds)]);
}

#[test]
fn a_bid_waits_for_nobody_because_a_second_one_is_refused() {
    let (mut hand, effects) = inherits(1, create_bid(1), 90);
    assert!(asks(&effects), "{effects:?}");
    let effects = verified(&mut hand, 1, Verified::Open { height: 100 });
    assert_eq!(simulated(&effects), [vec![1]]);
    // As far as the node knows this one is new.
    let (_, effects) = inherits(2, create_bid(2), 100);
    assert_eq!((asks(&effects), simulated(&effects)), (false, vec![vec![2]]));
}

#[test]
fn what_is_wanted_no_more_ends_only_when_it_cannot_come_any_more() {
    // Also what looks new: both lanes may have begun at the same height.
    for created in [90, 100] {
        let mut hand = Hand { lane: Lane::new(config()), now: Duration::ZERO };
        hand.feed(Input::Submit(vec![intent(1, create_bid(1), created)]));
        hand.feed(Input::Forget(IntentId(1)));
        hand.read(5, 5);
        for height in [100, 109] {
            let effects = verified(&mut hand, 1, Verified::Open { height });
            assert!(ended(&effects).is_empty() && simulated(&effects).is_empty(), "{effects:?}");
            hand.now += Duration::from_secs(20);
            hand.feed(Input::Tick);
        }
        let effects = verified(&mut hand, 1, Verified::Open { height: 110 });
        assert_eq!(ended(&effects), [(1, &Outcome::Forgotten)]);
    }
}

#[test]
fn a_withdrawal_decided_above_the_height_of_a_node_that_lags_is_asked_about_too() {
    let (mut hand, effects) = inherits(1, withdraw(7, 1), 130);
    assert!(asks(&effects), "{effects:?}");
    for height in [100, 130, 139] {
        let effects = verified(&mut hand, 1, Verified::Open { height });
        assert_eq!(simulated(&effects), Vec::<Vec<u64>>::new(), "{height}");
        ask_again(&mut hand);
    }
    let effects = verified(&mut hand, 1, Verified::Open { height: 140 });
    assert_eq!(simulated(&effects), [vec![1]]);
}

#[test]
fn what_comes_later_and_was_decided_later_is_nobody_elses() {
    let mut hand = Hand::ready(config());
    let effects = hand.feed(Input::Submit(vec![intent(1, withdraw(7, 1), 100)]));
    assert_eq!(simulated(&effects), [vec![1]]);
    // Decided before, and heard of only now.
    let effects = hand.feed(Input::Submit(vec![intent(2, withdraw(8, 1), 99)]));
    let asked = |effect: &Effect| matches!(effect, Effect::Verify { intent: IntentId(2), .. });
    assert!(effects.iter().any(asked), "{effects:?}");
    let read = AccountRead { committed: 5, pending: 5, height: 105 };
    hand.feed(Input::AccountRead(read));
    verified(&mut hand, 2, Verified::Open { height: 109 });
    assert_eq!(hand.lane.status().queued.iter().map(|(_, count)| count).sum::<usize>(), 0);
}
