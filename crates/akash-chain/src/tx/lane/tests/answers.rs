//! What follows each answer.

use std::time::Duration;

use akash_types::{Class, Outcome};

use super::super::{
    AccountRead, Broadcasted, Effect, HoldReason, Input, Lane, LookedUp, OurTx, SequenceStatus,
    Simulated, TxOutcome, Verified,
};
use super::build::{config, create_bid, intent, transfer, withdraw};
use super::chain::refusal;
use super::hand::{Hand, ended, included, simulated, verified};
use crate::tx::SimulationRefusal;

#[test]
fn the_message_at_fault_is_asked_about_and_its_mates_go_again_at_once() {
    let mut hand = Hand::ready(config());
    let sent = hand.send(1..6);
    hand.answer(&sent[0], 1, Broadcasted::Accepted);
    let log = "failed to execute message; message index: 2: order closed";
    let failed = refusal("market", 24, log.to_owned());
    let effects = hand.block(101, vec![included(&sent[0], Some(failed))]);
    assert_eq!(simulated(&effects), [vec![1, 2, 4, 5]]);
    assert!(
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::Verify { intent, .. } if intent.0 == 3))
    );
    let effects = verified(&mut hand, 3, Verified::Open { height: 101 });
    let [(3, Outcome::Refused { code: 24, .. })] = ended(&effects)[..] else {
        panic!("{effects:?}");
    };
    assert!(!hand.lane.status().fees_total.is_empty(), "a failure is paid for");
}

#[test]
fn a_failure_without_a_place_is_halved_until_it_has_one() {
    let mut hand = Hand::ready(config());
    let sent = hand.send(1..9);
    hand.answer(&sent[0], 1, Broadcasted::Accepted);
    let failed = || Some(refusal("sdk", 111_222, "recovered: boom".to_owned()));
    let effects = hand.block(101, vec![included(&sent[0], failed())]);
    assert_eq!(simulated(&effects), [vec![1, 2, 3, 4], vec![5, 6, 7, 8]]);
    let sent = hand.simulate(effects);
    sent.iter().for_each(|draft| drop(hand.answer(draft, 1, Broadcasted::Accepted)));
    let effects = hand.block(102, vec![included(&sent[0], failed()), included(&sent[1], None)]);
    assert_eq!(ended(&effects).len(), 4);
    assert_eq!(simulated(&effects), [vec![1, 2], vec![3, 4]]);
}

#[test]
fn a_refusal_in_simulation_takes_one_message_out_before_anything_is_paid() {
    let mut hand = Hand::ready(config());
    let intents = (1..4).map(|id| intent(id, create_bid(id), 100)).collect();
    let effects = hand.feed(Input::Submit(intents));
    let Some(Effect::Simulate(draft)) = effects.first() else { panic!("{effects:?}") };
    let refused = SimulationRefusal {
        text: "failed to execute message; message index: 1: bid exists".to_owned(),
        message_index: Some(1),
        sequence_mismatch: None,
        gas_used: None,
        height: None,
    };
    let answer = Simulated::Refused(refused);
    let effects = hand.feed(Input::Simulated { tx: draft.tx, answer });
    assert_eq!(simulated(&effects), [vec![1, 3]]);
    let effects = verified(&mut hand, 2, Verified::Holds { height: 200 });
    assert_eq!(ended(&effects), [(2, &Outcome::AlreadyHolds)]);
}

#[test]
fn no_answer_to_a_broadcast_is_followed_by_the_same_bytes_and_nothing_else() {
    let mut hand = Hand::ready(config());
    let sent = hand.send(1..3);
    let effects = hand.answer(&sent[0], 1, Broadcasted::Unknown);
    let [Effect::WakeAt(at)] = effects[..] else { panic!("{effects:?}") };
    assert_eq!(hand.send(5..6), [], "nothing new before it is known");
    hand.now = at;
    let effects = hand.feed(Input::Tick);
    assert_eq!(effects, [Effect::Rebroadcast { tx: sent[0].tx, attempt: 2 }]);
    // A late answer to the first attempt says nothing any more.
    hand.refuse(&sent[0], 32, "account sequence mismatch, expected 6, got 5");
    assert_eq!(hand.lane.status().messages_in_flight, 2);
    let cached = Broadcasted::Refused(refusal("sdk", 19, String::new()));
    let effects = hand.answer(&sent[0], 2, cached);
    assert_eq!(simulated(&effects), [vec![5]]);
}

#[test]
fn a_sequence_that_is_not_due_is_read_again_and_foreign_ones_are_passed_by() {
    let mut hand = Hand::ready(config());
    let sent = hand.send(1..3);
    let log = "account sequence mismatch, expected 7, got 5: incorrect account sequence";
    let effects = hand.refuse(&sent[0], 32, log);
    assert!(effects.contains(&Effect::ReadAccount), "{effects:?}");
    let effects = hand.read(5, 7);
    let sent = hand.simulate(effects);
    assert_eq!(sent[0].sequence, 7, "not ours, so it is not waited for");
}

#[test]
fn a_node_that_lost_transactions_gets_them_again_in_order() {
    let mut hand = Hand::ready(config());
    let sent = hand.send(1..31);
    assert_eq!(sent.len(), 3);
    sent.iter().for_each(|draft| drop(hand.answer(draft, 1, Broadcasted::Accepted)));
    hand.block(101, Vec::new());
    let effects = hand.block(102, Vec::new());
    assert!(effects.contains(&Effect::ReadAccount), "they are overdue: {effects:?}");
    let effects = hand.read(5, 6);
    let again = |index: usize| Effect::Rebroadcast { tx: sent[index].tx, attempt: 2 };
    assert_eq!(effects, [again(1), again(2)]);
}

#[test]
fn a_transaction_is_given_up_when_blocks_have_passed_its_timeout() {
    let mut hand = Hand::ready(config());
    let sent = hand.send(1..3);
    hand.answer(&sent[0], 1, Broadcasted::Accepted);
    assert_eq!(sent[0].timeout_height, 110);
    for height in 101..110 {
        hand.block(height, Vec::new());
        assert_eq!(hand.lane.status().messages_in_flight, 2, "{height}");
    }
    hand.block(110, Vec::new());
    let status = hand.lane.status();
    assert_eq!((status.messages_in_flight, status.queued[0]), (0, (Class::Bid, 2)));
}

#[test]
fn a_sequence_used_by_another_leads_to_a_question_and_not_to_a_repetition() {
    let mut hand = Hand::ready(config());
    let sent = hand.send(1..2);
    hand.answer(&sent[0], 1, Broadcasted::Accepted);
    let mut foreign = included(&sent[0], None);
    foreign.signature = b"another".to_vec();
    let effects = hand.block(101, vec![foreign]);
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Verify { .. })));
    hand.read(6, 6);
    // A node that does not know that block says nothing of use.
    let effects = verified(&mut hand, 1, Verified::Open { height: 100 });
    assert!(matches!(effects[..], [Effect::WakeAt(at)] if at > hand.now), "{effects:?}");
    hand.now += Duration::from_secs(60);
    hand.feed(Input::Tick);
    let effects = verified(&mut hand, 1, Verified::Open { height: 101 });
    assert_eq!(simulated(&effects), [vec![1]]);
}

#[test]
fn after_a_start_nothing_is_sent_while_more_waits_than_blocks_have() {
    let mut hand = Hand { lane: Lane::new(config()), now: Duration::ZERO };
    hand.feed(Input::Tick);
    hand.read(5, 7);
    let waiting = SequenceStatus::WaitingForEarlier { sequence: 7, height: 110 };
    assert_eq!(hand.lane.status().sequence, waiting);
    assert_eq!(hand.send(1..3), []);
    // Two of ours come in: what they did is asked for before anything is sent.
    let ours = |sequence: u64| OurTx {
        sequence,
        signature: vec![1],
        result: TxOutcome { refusal: None, gas_used: 1 },
    };
    hand.block(101, vec![ours(5)]);
    assert_eq!(hand.lane.status().sequence, waiting);
    let effects = hand.block(102, vec![ours(6)]);
    let asked = effects.iter().filter(|effect| matches!(effect, Effect::Verify { .. })).count();
    assert_eq!(asked, 2);
    hand.feed(Input::AccountRead(AccountRead { committed: 7, pending: 7, height: 102 }));
    let effects = verified(&mut hand, 1, Verified::Holds { height: 200 });
    assert_eq!(ended(&effects), [(1, &Outcome::AlreadyHolds)]);
    let effects = verified(&mut hand, 2, Verified::Open { height: 102 });
    assert_eq!(hand.simulate(effects)[0].sequence, 7);
}

#[test]
fn what_an_earlier_lane_left_is_waited_for_no_longer_than_it_can_come() {
    let mut hand = Hand { lane: Lane::new(config()), now: Duration::ZERO };
    hand.feed(Input::Tick);
    hand.read(5, 7);
    for height in 101..110 {
        assert!(hand.block(height, Vec::new()).is_empty(), "{height}");
    }
    assert_eq!(hand.block(110, Vec::new()), [Effect::ReadAccount]);
    // What still waits is not ours.
    hand.read(5, 7);
    assert_eq!(hand.send(1..2)[0].sequence, 7);
}

#[test]
fn transactions_in_skipped_blocks_are_looked_for_and_else_asked_about() {
    let mut hand = Hand::ready(config());
    let sent = hand.send(1..31);
    sent.iter().for_each(|draft| drop(hand.answer(draft, 1, Broadcasted::Accepted)));
    let effects = hand.feed(Input::Resynced { height: 150 });
    let looks = effects.iter().filter(|effect| matches!(effect, Effect::LookUp { .. })).count();
    assert_eq!((looks, effects.contains(&Effect::ReadAccount)), (3, true));
    let result = TxOutcome { refusal: None, gas_used: 1 };
    let answer = LookedUp::Found { height: 120, result };
    let effects = hand.feed(Input::LookedUp { tx: sent[0].tx, answer });
    assert_eq!(ended(&effects).len(), 10);
    hand.feed(Input::LookedUp { tx: sent[1].tx, answer: LookedUp::Absent });
    hand.feed(Input::LookedUp { tx: sent[2].tx, answer: LookedUp::Absent });
    // Two sequences are used up: the second may have been ours, the third never was.
    let read = AccountRead { committed: 7, pending: 7, height: 150 };
    let effects = hand.feed(Input::AccountRead(read));
    let asked = effects.iter().filter(|effect| matches!(effect, Effect::Verify { .. })).count();
    assert_eq!(asked, 10);
    assert_eq!(hand.lane.status().messages_in_flight, 10);
    hand.block(151, Vec::new());
    assert_eq!(hand.lane.status().messages_in_flight, 0, "past its timeout");
}

#[test]
fn on_another_branch_sequences_are_used_again_once_nothing_of_before_can_come() {
    let mut hand = Hand::ready(config());
    let sent = hand.send(1..11);
    hand.answer(&sent[0], 1, Broadcasted::Accepted);
    hand.feed(Input::Rebased { height: 500 });
    hand.feed(Input::LookedUp { tx: sent[0].tx, answer: LookedUp::Absent });
    let read = AccountRead { committed: 3, pending: 3, height: 500 };
    hand.feed(Input::AccountRead(read));
    assert_eq!(hand.lane.status().messages_in_flight, 10, "it may still come");
    hand.block(501, Vec::new());
    let read = Input::AccountRead(AccountRead { height: 501, ..read });
    // One that was asked for before the block, one after.
    let effects = [hand.feed(read.clone()), hand.feed(read)].concat();
    let again = hand.simulate(effects);
    assert!(sent[0].sequence > 3);
    assert_eq!(again[0].sequence, 3);
}

#[test]
fn what_cannot_be_asked_for_ends_as_unknown_only_when_it_may_have_come() {
    for (committed, unknown) in [(6, true), (5, false)] {
        let mut hand = Hand::ready(config());
        let effects = hand.feed(Input::Submit(vec![intent(1, transfer(1), 100)]));
        let sent = hand.simulate(effects);
        hand.answer(&sent[0], 1, Broadcasted::Accepted);
        hand.feed(Input::Resynced { height: 150 });
        hand.feed(Input::LookedUp { tx: sent[0].tx, answer: LookedUp::Absent });
        let read = AccountRead { committed, pending: committed, height: 150 };
        let effects = hand.feed(Input::AccountRead(read));
        let expected = [(1, &Outcome::Unknown)];
        assert_eq!(ended(&effects), expected[..usize::from(unknown)]);
    }
}

#[test]
fn refusals_of_the_whole_transaction_hold_the_lane_with_a_reason() {
    for (code, log) in [
        (20, "mempool is full"),
        (5, "spendable balance 0uakt: insufficient funds"),
        (13, "insufficient fees; got: 1uakt required: 5000uakt: insufficient fee"),
        (4, "signature verification failed: unauthorized"),
    ] {
        let mut hand = Hand::ready(config());
        let sent = hand.send(1..3);
        let effects = hand.refuse(&sent[0], code, log);
        let held = hand.lane.status().held;
        let fits = matches!(
            (code, &held[0].1),
            (20, HoldReason::MempoolFull { .. })
                | (5, HoldReason::InsufficientFunds { .. })
                | (13, HoldReason::FeeTooLow { .. })
                | (4, HoldReason::BadSignature { .. })
        );
        assert!(fits && held.len() == 1, "{code}: {held:?}");
        if effects.contains(&Effect::ReadAccount) {
            hand.read(5, 5);
        }
        hand.now += Duration::from_millis(900);
        assert_eq!(simulated(&hand.feed(Input::Tick)), Vec::<Vec<u64>>::new(), "{code}");
        hand.now += Duration::from_secs(60);
        assert_eq!(simulated(&hand.feed(Input::Tick)), [vec![1, 2]], "{code}");
    }
}

#[test]
fn a_transaction_that_is_too_large_is_halved_and_one_message_alone_is_refused() {
    let mut hand = Hand::ready(config());
    let sent = hand.send(1..3);
    let effects = hand.refuse(&sent[0], 21, "tx too large");
    assert_eq!(simulated(&effects), [vec![1], vec![2]]);
    let sent = hand.simulate(effects);
    hand.refuse(&sent[0], 21, "tx too large");
    let effects = verified(&mut hand, 1, Verified::Open { height: 100 });
    assert!(matches!(ended(&effects)[..], [(1, Outcome::Refused { code: 21, .. })]));
}

#[test]
fn a_transaction_that_ran_out_of_gas_gets_more() {
    let mut hand = Hand::ready(config());
    let sent = hand.send(1..2);
    hand.answer(&sent[0], 1, Broadcasted::Accepted);
    let out = refusal("sdk", 11, "out of gas in location: ReadFlat".to_owned());
    let effects = hand.block(101, vec![included(&sent[0], Some(out))]);
    let again = hand.simulate(effects);
    assert_eq!(again[0].fee.gas_limit, sent[0].fee.gas_limit * 3 / 2);
}

#[test]
fn a_withdrawal_from_an_account_just_settled_waits_a_block() {
    let mut hand = Hand::ready(config());
    let effects = hand.feed(Input::Submit(vec![intent(1, withdraw(7, 1), 100)]));
    let Some(Effect::Simulate(draft)) = effects.first() else { panic!("{effects:?}") };
    let refused = SimulationRefusal {
        text: "recovered: couldn't find payment".to_owned(),
        message_index: None,
        sequence_mismatch: None,
        gas_used: None,
        height: None,
    };
    let answer = Simulated::Refused(refused);
    let effects = hand.feed(Input::Simulated { tx: draft.tx, answer });
    assert_eq!(effects, []);
    assert_eq!(simulated(&hand.block(101, Vec::new())), [vec![1]]);
}

#[test]
fn a_withdrawal_that_failed_in_the_block_that_settled_its_account_goes_again_a_block_later() {
    let mut hand = Hand::ready(config());
    let effects = hand.feed(Input::Submit(vec![intent(1, withdraw(7, 1), 100)]));
    let sent = hand.simulate(effects);
    hand.answer(&sent[0], 1, Broadcasted::Accepted);
    // As the chain says it: a panic, with its stack behind.
    let log = "recovered: couldn't find payment akash1…/7/1/1\nstack:\ngoroutine 1 [running]:";
    let panic = refusal("sdk", 111_222, log.to_owned());
    let effects = hand.block(101, vec![included(&sent[0], Some(panic))]);
    assert_eq!(ended(&effects), []);
    assert_eq!(simulated(&effects), Vec::<Vec<u64>>::new());
    assert_eq!(simulated(&hand.block(102, Vec::new())), [vec![1]]);
}

#[test]
fn money_missing_for_a_bid_holds_bids_and_nothing_else() {
    let mut hand = Hand::ready(config());
    let sent = hand.send(1..2);
    hand.answer(&sent[0], 1, Broadcasted::Accepted);
    let log = "failed to execute message; message index: 0: deposit invalid: insufficient balance";
    let poor = refusal("market", 28, log.to_owned());
    let effects = hand.block(101, vec![included(&sent[0], Some(poor))]);
    assert_eq!(simulated(&effects), Vec::<Vec<u64>>::new());
    let held = hand.lane.status().held;
    assert!(matches!(held[..], [(Some(Class::Bid), HoldReason::InsufficientFunds { .. })]));
    let effects = hand.feed(Input::Submit(vec![intent(2, withdraw(7, 1), 101)]));
    assert_eq!(simulated(&effects), [vec![2]]);
}
