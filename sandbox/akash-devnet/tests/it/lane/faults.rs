//! Nodes that refuse, forget and restart, and others who use the same key.

use akash_chain::tx::lane::{HoldReason, SequenceStatus};
use akash_chain::tx::message::bank;
use akash_types::Outcome;

use super::support::{Bed, PROVIDER, TENANT, address, bid_intents, config};

fn is_executed(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Executed { .. })
}

#[tokio::test]
async fn foreign_transactions_of_the_same_key_do_not_stop_the_lane() {
    let mut bed = Bed::start(None).await;
    let mut lane = bed.lane(config(PROVIDER), PROVIDER);
    let gift = bank::send(address(PROVIDER), address(TENANT), vec!["5uakt".parse().unwrap()]);
    let gift = [gift.unwrap()];
    let orders = bed.orders(30, 1).await;
    // In the mempool before the lane sends, and before it knows.
    lane.wait("ready", |status| matches!(status.sequence, SequenceStatus::Ready { .. })).await;
    bed.read_sequence(PROVIDER).await;
    bed.send(PROVIDER, &gift).await;
    let intents = bid_intents(&orders, bed.height);
    lane.handle.submit(intents[..10].to_vec()).await.unwrap();
    lane.in_flight(10).await;
    bed.block(&lane).await;
    assert!(lane.outcomes(10).await.values().all(is_executed));
    // In a block that the lane has not heard of yet.
    bed.read_sequence(PROVIDER).await;
    bed.send(PROVIDER, &gift).await;
    let results = bed.devnet.produce_block(None).await.unwrap();
    lane.handle.submit(intents[10..].to_vec()).await.unwrap();
    lane.in_flight(20).await;
    assert_eq!(results.txs.len(), 1);
    lane.handle.resynced(results.height()).await.unwrap();
    lane.shown.set(results.height());
    bed.block(&lane).await;
    assert!(lane.outcomes(20).await.values().all(is_executed));
}

#[tokio::test]
async fn a_full_mempool_is_shown_and_waited_for() {
    let mut bed = Bed::start(None).await;
    let mut lane = bed.lane(config(PROVIDER), PROVIDER);
    let orders = bed.orders(30, 1).await;
    bed.devnet.faults().change(|plan| plan.mempool_full = true);
    lane.handle.submit(bid_intents(&orders, bed.height)).await.unwrap();
    let full = |reason: &HoldReason| matches!(reason, HoldReason::MempoolFull { .. });
    let held = lane.wait("held", |status| !status.held.is_empty()).await.held;
    assert!(matches!(held.as_slice(), [(None, reason)] if full(reason)), "{held:?}");
    bed.devnet.faults().clear();
    lane.in_flight(30).await;
    bed.block(&lane).await;
    assert!(lane.outcomes(30).await.values().all(is_executed));
    lane.wait("nothing is held", |status| status.held.is_empty()).await;
}

#[tokio::test]
async fn silence_on_a_broadcast_is_followed_by_the_same_bytes() {
    let mut bed = Bed::start(None).await;
    let mut lane = bed.lane(config(PROVIDER), PROVIDER);
    let orders = bed.orders(30, 1).await;
    bed.devnet.faults().fail("broadcast_tx_sync", "boom", Some(2));
    lane.handle.submit(bid_intents(&orders, bed.height)).await.unwrap();
    // The two lost ones go as they are, the one behind them was refused and goes anew.
    lane.in_flight(30).await;
    assert_eq!(bed.block(&lane).await, 3);
    assert!(lane.outcomes(30).await.values().all(is_executed));
}

#[tokio::test]
async fn a_lane_that_starts_with_transactions_pending_waits_for_them() {
    let mut bed = Bed::start(None).await;
    let first = bed.lane(config(PROVIDER), PROVIDER);
    let orders = bed.orders(20, 1).await;
    let intents = bid_intents(&orders, bed.height);
    first.handle.submit(intents.clone()).await.unwrap();
    first.in_flight(20).await;
    first.task.abort();
    drop(first);

    let mut second = bed.lane(config(PROVIDER), PROVIDER);
    second.handle.submit(intents).await.unwrap();
    let waits = |status: &SequenceStatus| {
        matches!(status, SequenceStatus::WaitingForEarlier { sequence: 3, .. })
    };
    second.wait("it waits", |status| waits(&status.sequence)).await;
    assert_eq!(second.handle.status().messages_in_flight, 0);
    assert_eq!(bed.block(&second).await, 2);
    let outcomes = second.outcomes(20).await;
    assert!(outcomes.values().all(|outcome| *outcome == Outcome::AlreadyHolds), "{outcomes:?}");
    assert_eq!(bed.block(&second).await, 0, "nothing is sent twice");
}

#[tokio::test]
async fn a_node_that_lost_its_mempool_gets_everything_again() {
    let home = tempfile::tempdir().unwrap();
    let mut bed = Bed::start(Some(home.path())).await;
    let mut lane = bed.lane(config(PROVIDER), PROVIDER);
    let orders = bed.orders(20, 1).await;
    lane.handle.submit(bid_intents(&orders, bed.height)).await.unwrap();
    lane.in_flight(20).await;
    let mut bed = bed.restart_node(home.path()).await;
    let mut txs = 0;
    // The lane notices after two blocks; how fast it is then is not the question.
    for _ in 0..300 {
        txs += bed.block(&lane).await;
        if txs == 2 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    assert_eq!(txs, 2);
    assert!(lane.outcomes(20).await.values().all(is_executed));
}
