//! Many bids at once.

use akash_types::Outcome;

use super::support::{Bed, PROVIDER, bid_intents, config};

#[tokio::test]
async fn a_hundred_bids_are_in_the_block_after_their_orders() {
    let mut bed = Bed::start(None).await;
    let mut lane = bed.lane(config(PROVIDER), PROVIDER);
    let orders = bed.orders(100, 1).await;
    lane.handle.submit(bid_intents(&orders, bed.height)).await.unwrap();
    lane.in_flight(100).await;
    let (ordered, txs) = (bed.height, bed.block(&lane).await);
    assert_eq!(txs, 10);
    let outcomes = lane.outcomes(100).await;
    assert!(outcomes.values().all(|outcome| *outcome == Outcome::Executed { height: ordered + 1 }));
    let status = lane.wait("confirmed", |status| status.confirmed_height.is_some()).await;
    assert_eq!((status.txs_in_flight, status.fees_total == status.fees_today), (0, true));
    assert!(!status.fees_total.is_empty());
}

#[tokio::test]
async fn orders_that_close_in_the_very_block_cost_their_mates_one_block() {
    let mut bed = Bed::start(None).await;
    let mut lane = bed.lane(config(PROVIDER), PROVIDER);
    let orders = bed.orders(100, 1).await;
    let ordered = bed.height;
    // Before our bids in the block, and unseen by simulation.
    bed.close_orders(orders.iter().step_by(10)).await;
    lane.handle.submit(bid_intents(&orders, bed.height)).await.unwrap();
    lane.in_flight(100).await;
    bed.block(&lane).await;
    lane.in_flight(90).await;
    bed.block(&lane).await;
    let outcomes = lane.outcomes(100).await;
    for (id, outcome) in outcomes {
        match outcome {
            Outcome::Executed { height } => assert!(id % 10 != 0 && height == ordered + 2, "{id}"),
            Outcome::Refused { codespace, code, log } => {
                assert_eq!((id % 10, codespace.as_str(), code), (0, "market", 24), "{log}");
            }
            other => panic!("{id}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_closed_order_is_found_before_it_costs_anything() {
    let mut bed = Bed::start(None).await;
    let mut lane = bed.lane(config(PROVIDER), PROVIDER);
    let orders = bed.orders(20, 1).await;
    bed.close_orders(orders.iter().step_by(10)).await;
    bed.silent_block().await;
    lane.handle.submit(bid_intents(&orders, bed.height)).await.unwrap();
    lane.in_flight(18).await;
    assert_eq!(bed.block(&lane).await, 2);
    let outcomes = lane.outcomes(20).await;
    let executed = outcomes.values().filter(|outcome| outcome.holds()).count();
    assert_eq!(executed, 18);
    let Outcome::Refused { log, .. } = &outcomes[&0] else { panic!("{outcomes:?}") };
    assert!(log.ends_with("order closed"), "{log}");
}

#[tokio::test]
async fn a_bid_that_exists_ends_its_intent() {
    let mut bed = Bed::start(None).await;
    let mut lane = bed.lane(config(PROVIDER), PROVIDER);
    let orders = bed.orders(3, 1).await;
    lane.handle.submit(bid_intents(&orders[..2], bed.height)).await.unwrap();
    lane.in_flight(2).await;
    bed.block(&lane).await;
    lane.outcomes(2).await;
    lane.handle.submit(bid_intents(&orders, bed.height)).await.unwrap();
    lane.in_flight(1).await;
    let height = bed.height + 1;
    bed.block(&lane).await;
    let outcomes = lane.outcomes(3).await;
    assert_eq!(outcomes[&0], Outcome::AlreadyHolds);
    assert_eq!(outcomes[&1], Outcome::AlreadyHolds);
    assert_eq!(outcomes[&2], Outcome::Executed { height });
}
