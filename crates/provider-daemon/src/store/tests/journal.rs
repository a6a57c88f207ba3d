use std::time::Duration;

use provider_engine::journal::{Decision, Subject};
use provider_engine::reconcile::Drift;
use provider_engine::{Effect, Fact};
use serde_json::json;

use super::super::{Batch, LeaseChange, Record, Retention, Store};
use super::build::{at, entry, lease, order, said, uakt};

fn words(records: &[Record]) -> Vec<&str> {
    records.iter().map(|record| record.words.as_str()).collect()
}

fn store(retention: Retention) -> Store {
    Store::in_memory(retention).unwrap()
}

#[test]
fn a_subject_is_asked_for_without_the_others_and_the_newest_win() {
    let store = store(Retention::default());
    let subject = Subject::Order(order(7));
    for height in 1..=5 {
        let entries = vec![said(height, 7, &format!("ours {height}")), said(height, 70, "theirs")];
        store.commit(&Batch { entries, ..Batch::default() }).unwrap();
    }
    assert_eq!(words(&store.why(subject, 2).unwrap()), ["ours 4", "ours 5"]);
    assert_eq!(store.why(subject, 100).unwrap().len(), 5);
    assert_eq!(store.why(Subject::Provider, 100).unwrap(), []);
    let recent = store.recent(3).unwrap();
    assert_eq!(words(&recent), ["theirs", "ours 5", "theirs"]);
    assert_eq!(recent.iter().map(|record| record.sequence).collect::<Vec<_>>(), [7, 8, 9]);
}

#[test]
fn a_record_says_what_where_when_and_why() {
    let store = store(Retention::default());
    let drift = Decision::Drift(Drift::BidMissing(order(3)));
    let entries = vec![entry(9, Subject::Order(order(3)), drift)];
    store.commit(&Batch { entries, ..Batch::default() }).unwrap();
    let [record] = &store.recent(1).unwrap()[..] else { panic!("one record") };
    assert_eq!((record.height, record.time), (9, at(9).time.unix()));
    assert_eq!((record.kind.as_str(), &record.subject), ("drift", &order(3).to_string()));
    assert_eq!(record.detail, Some(json!({ "drift": "bid_missing" })));
    assert!(record.words.contains("is not among the open ones"), "{record}");
}

#[test]
fn words_of_any_length_take_bounded_room() {
    let store = store(Retention::default());
    let why = "ü".repeat(100_000);
    let refused = entry(1, Subject::Provider, Decision::Refused { why });
    let named = Decision::Withheld(vec!["x".repeat(9_000)]);
    let entries = vec![refused, entry(1, Subject::Provider, named)];
    store.commit(&Batch { entries, ..Batch::default() }).unwrap();
    let records = store.recent(2).unwrap();
    assert_eq!(records[0].words.chars().count(), 2_001);
    assert_eq!(records[1].detail, None);
}

#[test]
fn old_entries_go_by_block_time() {
    // A block takes six seconds.
    let store = store(Retention { age: Duration::from_secs(60), ..Retention::default() });
    for height in 1..=30 {
        let entries = vec![said(height, height, "x")];
        store.commit(&Batch { entries, ..Batch::default() }).unwrap();
    }
    let heights: Vec<_> = store.recent(100).unwrap().iter().map(|kept| kept.height).collect();
    assert_eq!(heights, (20..=30).collect::<Vec<_>>());
    assert_eq!(store.why(Subject::Order(order(19)), 9).unwrap(), []);
    assert_eq!(store.why(Subject::Order(order(20)), 9).unwrap().len(), 1);
}

#[test]
fn the_oldest_go_when_there_are_too_many_bytes() {
    let store = store(Retention { bytes: 3_000, ..Retention::default() });
    for height in 1..=100 {
        let entries = vec![said(height, height, &"x".repeat(100))];
        store.commit(&Batch { entries, ..Batch::default() }).unwrap();
        let kept = store.recent(1_000).unwrap();
        let bytes: usize = kept.iter().map(|kept| kept.to_bytes().len()).sum();
        assert!(bytes <= 3_000, "{bytes} at {height}");
        assert_eq!(kept.last().unwrap().height, height);
        assert!(height < 10 || kept.len() > 5, "{} at {height}", kept.len());
    }
}

#[test]
fn no_subject_crowds_out_the_others() {
    let store = store(Retention { per_subject: 4, ..Retention::default() });
    let mut batch = Batch { entries: vec![said(1, 1, "quiet")], ..Batch::default() };
    batch.entries.extend((1..=50).map(|height| said(height, 2, &format!("loud {height}"))));
    store.commit(&batch).unwrap();
    assert_eq!(words(&store.why(Subject::Order(order(1)), 99).unwrap()), ["quiet"]);
    let loud = store.why(Subject::Order(order(2)), 99).unwrap();
    assert_eq!(words(&loud), ["loud 1", "loud 48", "loud 49", "loud 50"]);
    assert_eq!(store.recent(99).unwrap().len(), 5);
}

#[test]
fn a_batch_takes_from_effects_what_is_worth_keeping() {
    let mut batch = Batch::default();
    let record = said(3, 3, "x");
    for effect in [
        Effect::Record(record.clone()),
        Effect::Publish(Fact::LeaseStarted(lease(3))),
        Effect::Publish(Fact::Earned { lease: lease(3), amount: uakt(5) }),
        Effect::Publish(Fact::LeaseOver {
            lease: lease(3),
            state: akash_types::LeaseState::Closed,
            reason: None,
        }),
        Effect::Publish(Fact::LeaseGone(lease(3))),
        Effect::Publish(Fact::Ready),
    ] {
        batch.take(at(3), &effect);
    }
    assert_eq!(batch.entries, [record]);
    let changes: Vec<_> = batch.leases.iter().map(|event| event.change.clone()).collect();
    use LeaseChange::{Earned, Gone, Over, Started};
    assert_eq!(changes, [Started, Earned(uakt(5)), Over, Gone]);
}
