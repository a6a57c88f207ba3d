//! What the engine says of itself: decisions that are journaled, and why there are no bids.

use std::time::Duration;

use akash_types::{Action, ChainEvent, LeaseClosedReason, LeaseId, Reclamation};
use provider_engine::cluster::view::ViewChange;
use provider_engine::{Input, OperatorRequest, Reply, Settings};

use crate::world::{World, provider, settings};

fn pauses(world: &World) -> Vec<String> {
    world.engine.status().bid_pauses
}

#[test]
fn every_cause_why_no_bids_are_made_is_named() {
    let world = World::new();
    assert!(pauses(&world)[0].starts_with("starting: "), "{:?}", pauses(&world));
    let mut world = World::started();
    assert_eq!(pauses(&world), [""; 0]);

    world.tell(Input::View(ViewChange::Lost));
    assert_eq!(pauses(&world), ["the cluster does not answer"]);
    world.show();
    world.operator(OperatorRequest::Maintenance(true));
    assert_eq!(pauses(&world), ["the provider is in maintenance"]);
    world.operator(OperatorRequest::Maintenance(false));

    let mut policy = settings().policy;
    (policy.paused, policy.daily_fees) = (true, Some(1));
    let changed = Settings { policy, ..settings() };
    world.operator(OperatorRequest::Settings(Box::new(changed)));
    let why = pauses(&world);
    assert_eq!((why.len(), why[0].as_str()), (2, "bidding is paused"), "{why:?}");
    assert!(why[1].contains("daily budget of 1"), "{why:?}");
    world.operator(OperatorRequest::Settings(Box::new(settings())));

    world.chain.wallet.clear();
    world.blocks(120);
    let why = pauses(&world);
    assert!(why.len() == 1 && why[0].starts_with("a bid needs"), "{why:?}");

    let isolated = World::requiring_isolation();
    assert_eq!(pauses(&isolated).len(), 1, "{:?}", pauses(&isolated));
}

#[test]
fn a_provider_that_knows_neither_its_record_nor_the_market_makes_no_bids() {
    let mut world = World::new();
    (world.chain.knows_provider, world.chain.tells_params) = (false, false);
    world.start();
    world.order(1);
    let why = pauses(&world);
    assert_eq!(why.len(), 2, "{why:?}");
    assert!(why[0].starts_with("the provider is not registered on chain"), "{why:?}");
    assert_eq!(why[1], "the parameters of the market were not read yet");
    assert!(world.submitted.is_empty(), "{:?}", world.submitted);
    (world.chain.knows_provider, world.chain.tells_params) = (true, true);
    world.blocks(120);
    assert_eq!(pauses(&world), [""; 0]);
    assert_eq!(world.submitted.len(), 1, "{:?}", world.submitted);
}

#[test]
fn a_cluster_that_is_not_known_is_a_cause_of_no_bids() {
    let mut world = World::started();
    world.running(1);
    world.cluster.leases.clear();
    world.show();
    let why = pauses(&world);
    assert!(why.iter().any(|why| why.starts_with("the cluster is unknown")), "{why:?}");
}

#[test]
fn what_is_adopted_is_journaled_once_and_before_its_health() {
    let mut world = World::started();
    let lease = world.running(1);
    world.restart();
    world.records.clear();
    world.restart();
    world.blocks(20);
    let why = world.why(lease.order_id());
    let place = |words: &str| why.iter().position(|line| line.contains(words)).unwrap();
    assert!(place("found in the cluster, left as it is") < place("everything runs"), "{why:?}");
    assert_eq!(why.iter().filter(|line| line.contains("found in the cluster")).count(), 1);
}

#[test]
fn an_operators_close_is_decided_once() {
    let mut world = World::started();
    let lease = world.running(1);
    let reason = LeaseClosedReason::DECOMMISSION;
    for _ in 0..2 {
        let close = OperatorRequest::CloseLease { lease, reason };
        assert_eq!(world.operator(close), Reply::Done);
    }
    let why = world.why(lease.order_id());
    let closes = why.iter().filter(|line| line.starts_with("close the lease: "));
    assert_eq!(closes.count(), 1, "{why:?}");
}

#[test]
fn an_announced_end_is_journaled() {
    let mut world = World::started();
    let order = world.order(1);
    world.land();
    let lease = LeaseId::new(order, provider());
    world.chain.give_lease(lease, world.chain.bids[&order].price.clone());
    let window = Duration::from_secs(86_400);
    let terms = Reclamation { window, started_at: None, deadline: None, reason: None };
    world.chain.leases.get_mut(&order).unwrap().reclamation = Some(terms);
    world.block(&[ChainEvent::LeaseCreated { id: lease, price: None }]);
    let reason = LeaseClosedReason::DECOMMISSION;
    world.operator(OperatorRequest::CloseLease { lease, reason });
    world.blocks(15);
    assert!(
        matches!(&world.submitted[..], [(_, Action::StartReclaim { .. })]),
        "{:?}",
        world.submitted
    );
    let why = world.why(order);
    assert!(why.contains(&"announce the end of the lease".to_owned()), "{why:?}");
}
