//! The engine as a whole: what it does when the world behaves, when it restarts, and when nobody
//! answers.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod money;
mod recognition;
mod records;
mod world;

use std::sync::Arc;
use std::time::Duration;

use akash_types::{Action, BidState, ChainEvent, LeaseClosedReason, OrderState, Outcome};
use provider_engine::cluster::command::Operation;
use provider_engine::cluster::view::{Condition, ViewChange};
use provider_engine::manifest::{ManifestAnswer, MigrationAnswer, MigrationRefusal};
use provider_engine::order::isolation::IsolationHold;
use provider_engine::reconcile::Drift;
use provider_engine::{Input, OperatorRequest, Reply, RequestId, TenantRequest, TxEnd};
use world::{World, order, order_id};

#[test]
fn nothing_is_written_before_chain_and_cluster_are_known() {
    let mut world = World::new();
    let id = order_id(1);
    world.chain.orders.insert(id, order(id, 50));
    world.block(&[]);
    world.wait(Duration::from_secs(120));
    assert!(world.submitted.is_empty() && world.commands.is_empty());
    world.show();
    assert!(matches!(&world.submitted[..], [(_, Action::CreateBid(_))]));
}

#[test]
fn an_order_is_bid_on_as_soon_as_its_block_is_there() {
    let mut world = World::started();
    let id = world.order(1);
    let [(_, Action::CreateBid(offer))] = &world.submitted[..] else { panic!() };
    assert_eq!(offer.id.order_id(), id);
    assert_eq!(offer.price, "2000uact".parse().unwrap(), "two replicas of 1000 thousandths");
    assert_eq!(offer.resources_offer.len(), 1);
    world.land();
    assert_eq!(world.stage(id), Some("open"));
}

#[test]
fn a_lease_runs_only_after_the_manifest_is_held_and_ends_on_two_readings() {
    let mut world = World::started();
    let lease = world.running(1);
    let order = lease.order_id();
    assert!(matches!(world.commands[..], [Operation::Hold(_), Operation::Deploy(_)]));
    assert!(matches!(
        &world.replies[..],
        [(_, Reply::Manifest(ManifestAnswer::Accepted { leases }))] if leases[..] == [lease]
    ));
    assert_eq!(world.stage(order), Some("running"));
    let closed = world.close(lease);
    world.block(&[closed]);
    assert_eq!(world.stage(order), Some("running"), "one reading proves nothing");
    world.blocks(1);
    assert!(matches!(world.commands.last(), Some(Operation::Teardown { .. })));
    assert_eq!(world.stage(order), None);
    assert_eq!(world.engine.reservations().count(), 0, "what it had is free");
}

#[test]
fn endpoints_do_not_move_where_the_cluster_hands_out_no_addresses() {
    let mut world = World::started();
    let lease = world.running(1);
    world.commands.clear();
    assert_eq!(world.cluster.ips, None);
    let endpoints = vec!["dns".to_owned()];
    let (owner, dseq, gseq) = (lease.owner(), lease.dseq(), lease.gseq());
    let wanted = TenantRequest::MigrateEndpoints { endpoints, owner, dseq, gseq };
    world.tell(Input::Tenant(RequestId(99), wanted));
    let refused = Reply::Migration(MigrationAnswer::Refused(MigrationRefusal::EndpointsCannotMove));
    assert_eq!(world.replies.last(), Some(&(RequestId(99), refused)));
    assert_eq!(MigrationRefusal::EndpointsCannotMove.status(), 501);
    assert!(world.commands.is_empty(), "{:?}", world.commands);
}

#[test]
fn a_restart_touches_nothing_that_runs() {
    let mut world = World::started();
    let lease = world.running(1);
    let bid_on = world.order(2);
    world.land();
    world.restart();
    world.blocks(20);
    assert!(world.commands.is_empty(), "{:?}", world.commands);
    assert!(world.submitted.is_empty(), "{:?}", world.submitted);
    assert_eq!(world.stage(lease.order_id()), Some("running"));
    assert_eq!(world.stage(bid_on), Some("open"));
    assert_eq!(world.engine.reservations().count(), 2);
}

#[test]
fn a_lease_closed_while_we_were_away_is_torn_down() {
    let mut world = World::started();
    let lease = world.running(1);
    world.close(lease);
    world.restart();
    world.blocks(3);
    assert!(matches!(world.commands[..], [Operation::Teardown { .. }]));
    assert_eq!(world.stage(lease.order_id()), None);
}

#[test]
fn what_the_chain_does_not_know_is_left_alone() {
    let mut world = World::started();
    let lease = world.running(1);
    world.chain.leases.clear();
    world.chain.bids.clear();
    world.chain.orders.clear();
    world.restart();
    world.blocks(100);
    assert!(world.commands.is_empty(), "absence proves nothing");
    let Reply::Drift(drift) = world.operator(OperatorRequest::Drift) else { panic!() };
    assert!(drift.contains(&Drift::WorkloadWithoutLease(lease)), "{drift:?}");
}

#[test]
fn a_lease_closed_without_an_event_is_found_by_comparing() {
    let mut world = World::started();
    let lease = world.running(1);
    world.close(lease);
    world.blocks(15);
    assert_eq!(world.stage(lease.order_id()), None);
}

#[test]
fn a_cluster_that_does_not_answer_closes_nothing() {
    let mut world = World::started();
    let lease = world.running(1);
    world.submitted.clear();
    world.cluster_answers = false;
    world.tell(Input::View(ViewChange::Lost));
    world.blocks(1_000);
    assert!(world.submitted.iter().all(|(_, action)| matches!(action, Action::Withdraw { .. })));
    assert_eq!(world.stage(lease.order_id()), Some("running"));
}

#[test]
fn a_chain_that_does_not_answer_closes_nothing() {
    let mut world = World::started();
    let lease = world.running(1);
    world.chain.answers = false;
    let closed = world.close(lease);
    world.block(&[closed]);
    world.blocks(300);
    assert_eq!(world.commands.len(), 2, "hold and deploy");
    world.chain.answers = true;
    world.blocks(15);
    assert_eq!(world.stage(lease.order_id()), None, "and once it answers, it is over");
}

#[test]
fn an_unhealthy_lease_is_closed_as_unstable_after_its_budget() {
    let mut world = World::started();
    let lease = world.running(1);
    world.submitted.clear();
    for pod in &mut world.cluster.leases.get_mut(&lease).unwrap().replicas {
        pod.condition = Condition::Failing("exit 1".to_owned());
    }
    world.show();
    world.wait(Duration::from_secs(60));
    assert!(world.submitted.is_empty());
    world.wait(Duration::from_secs(900));
    let closes: Vec<_> = world
        .submitted
        .iter()
        .filter_map(|(_, action)| match action {
            Action::CloseBid { reason, .. } => Some(*reason),
            _ => None,
        })
        .collect();
    assert_eq!(closes, [LeaseClosedReason::UNSTABLE]);
}

#[test]
fn without_a_manifest_the_lease_is_closed_with_that_reason() {
    let mut world = World::started();
    let order = world.order(1);
    world.land();
    world.lease(order);
    world.blocks(49);
    assert!(world.submitted.is_empty(), "five minutes are fifty blocks");
    world.blocks(2);
    assert!(matches!(
        &world.submitted[..],
        [(_, Action::CloseBid { reason: LeaseClosedReason::MANIFEST_TIMEOUT, .. })]
    ));
}

#[test]
fn a_bid_that_nobody_takes_is_closed_after_its_timeout() {
    let mut world = World::started();
    world.order(1);
    world.land();
    world.blocks(49);
    assert!(world.submitted.is_empty());
    world.blocks(2);
    assert!(matches!(&world.submitted[..], [(_, Action::CloseBid { .. })]));
    world.land();
    assert_eq!(world.engine.reservations().count(), 0);
}

#[test]
fn a_bid_left_open_on_an_order_that_another_won_is_closed() {
    let mut world = World::started();
    let order = world.order(1);
    world.land();
    world.chain.orders.get_mut(&order).unwrap().state = OrderState::Active;
    let id = akash_types::LeaseId::new(order, world::address(8));
    world.block(&[ChainEvent::LeaseCreated { id, price: None }]);
    assert!(matches!(&world.submitted[..], [(_, Action::CloseBid { .. })]));
    world.land();
    assert_eq!(world.chain.bids[&order].state, BidState::Closed);
    assert_eq!(world.stage(order), None);
}

#[test]
fn orders_beyond_what_there_is_are_declined_with_the_reason_and_bid_on_when_there_is_room() {
    let mut world = World::started();
    for dseq in 1..=8 {
        world.order(dseq);
    }
    assert_eq!(world.submitted.len(), 8, "sixteen cores for sixteen replicas");
    let late = world.order(9);
    assert_eq!(world.stage(late), Some("declined"));
    let why = world.why(late);
    assert!(why.iter().any(|line| line.contains("no bid") && line.contains("CPU")), "{why:?}");
    let first = order_id(1);
    world.chain.orders.get_mut(&first).unwrap().state = OrderState::Closed;
    let (intent, _) = world.submitted.remove(0);
    world.block(&[ChainEvent::OrderClosed { id: first }]);
    let outcome = akash_types::Outcome::Forgotten;
    world.tell(Input::Tx(provider_engine::TxEnd { intent, outcome, fee: None }));
    world.blocks(15);
    assert_eq!(world.stage(late), Some("bidding"));
}

#[test]
fn in_maintenance_nothing_is_bid_on_and_afterwards_it_is() {
    let mut world = World::started();
    assert_eq!(world.operator(OperatorRequest::Maintenance(true)), Reply::Done);
    let id = world.order(1);
    assert_eq!(world.stage(id), Some("declined"));
    world.operator(OperatorRequest::Maintenance(false));
    assert_eq!(world.stage(id), Some("bidding"), "at once");
}

#[test]
fn where_isolation_is_required_there_are_bids_only_while_it_is_known() {
    let mut world = World::requiring_isolation();
    let hold = |world: &World| world.engine.status().isolation.map(|hold| hold.code());
    let first = world.order(1);
    assert_eq!((world.stage(first), hold(&world)), (Some("declined"), Some("unknown")));
    world.operator(OperatorRequest::Isolation(None));
    world.land();
    assert_eq!((world.stage(first), hold(&world)), (Some("open"), None));
    // A finding stops new bids; the one that is open stays.
    let found = IsolationHold::Findings("pods of tenants reach kubelet at 10.0.0.1:10250".into());
    world.operator(OperatorRequest::Isolation(Some(found.clone())));
    let second = world.order(2);
    assert_eq!((world.stage(second), hold(&world)), (Some("declined"), Some("findings")));
    assert_eq!(world.stage(first), Some("open"));
    let told: Vec<_> = world.records.iter().map(|entry| entry.decision.to_string()).collect();
    assert!(told.contains(&format!("no new bids: {found}")), "{told:?}");
    world.operator(OperatorRequest::Isolation(None));
    assert_eq!(world.stage(second), Some("bidding"));
    // Where it is not required, a probe changes nothing.
    let mut world = World::started();
    world.operator(OperatorRequest::Isolation(Some(found)));
    assert_eq!(hold(&world), None);
    let order = world.order(1);
    assert_eq!(world.stage(order), Some("bidding"));
}

#[test]
fn room_that_was_offered_is_kept_over_a_restart_before_anything_new_is_offered() {
    let mut world = World::new();
    world.cluster.nodes.retain(|name, _| &**name == "a");
    world.cluster.nodes.get_mut("a").unwrap().allocatable.cpu_milli = 2_000;
    world.start();
    let offered = world.order(5);
    world.land();
    // Of a lower number: whatever goes by number comes to it first.
    let new = order_id(1);
    world.chain.orders.insert(new, order(new, world.chain.height));
    world.restart();
    assert!(world.submitted.is_empty(), "{:?}", world.submitted);
    assert_eq!(world.stage(offered), Some("open"));
    assert_eq!(world.stage(new), Some("declined"));
}

#[test]
fn a_bid_found_while_the_cluster_cannot_be_seen_gets_its_room_once_it_can() {
    let mut world = World::started();
    world.order(1);
    world.land();
    world.tell(Input::View(ViewChange::Lost));
    let (known, found) = (order_id(1), order_id(2));
    world.chain.orders.insert(found, order(found, world.chain.height));
    let mut bid = world.chain.bids[&known].clone();
    bid.id = found.bid_id(world::provider());
    world.chain.bids.insert(found, bid);
    world.blocks(15);
    assert_eq!(world.stage(found), Some("open"));
    assert_eq!(world.engine.reservations().count(), 1);
    world.show();
    assert_eq!(world.engine.reservations().count(), 2);
}

#[test]
fn an_open_order_whose_bid_is_over_is_not_noticed_again() {
    let mut world = World::started();
    let id = world.order(1);
    world.land();
    world.chain.bids.get_mut(&id).unwrap().state = BidState::Closed;
    world.block(&[ChainEvent::BidClosed { id: id.bid_id(world::provider()) }]);
    assert_eq!(world.stage(id), None);
    world.blocks(30);
    let Reply::Drift(drift) = world.operator(OperatorRequest::Drift) else { panic!() };
    assert_eq!(drift, []);
}

#[test]
fn no_manifest_is_taken_before_the_cluster_was_seen() {
    let mut world = World::started();
    world.running(1);
    world.engine = World::new().engine;
    world.commands.clear();
    world.manifest(1);
    let Some((_, Reply::Manifest(ManifestAnswer::Refused(refusal)))) = world.replies.last() else {
        panic!("{:?}", world.replies)
    };
    assert_eq!(refusal.status(), 503);
    assert!(world.commands.is_empty(), "whose a hostname is cannot be known yet");
}

#[test]
fn a_manifest_that_is_kept_and_not_carried_out_is_carried_out() {
    let mut world = World::started();
    let lease = world.running(1);
    world.commands.clear();
    world.cluster.leases.get_mut(&lease).unwrap().held.as_mut().unwrap().deployed = false;
    world.show();
    world.blocks(15);
    assert!(matches!(world.commands[..], [Operation::Deploy(_)]), "{:?}", world.commands);
    assert_eq!(world.stage(lease.order_id()), Some("running"));
}

#[test]
fn a_bid_that_did_not_come_about_can_be_made_again_with_the_room_it_had() {
    let mut world = World::new();
    world.cluster.nodes.retain(|name, _| &**name == "a");
    world.cluster.nodes.get_mut("a").unwrap().allocatable.cpu_milli = 2_000;
    world.start();
    let id = world.order(1);
    let (intent, _) = world.submitted.pop().unwrap();
    let end = TxEnd { intent, outcome: Outcome::Expired, fee: None };
    world.tell(Input::Tx(end));
    world.wait(Duration::from_secs(10));
    assert!(matches!(world.submitted[..], [(_, Action::CreateBid(_))]), "{:?}", world.why(id));
}

#[test]
fn a_manifest_is_kept_once_however_often_the_cluster_shows_it() {
    let mut world = World::started();
    let lease = world.running(1);
    let kept = |world: &World| {
        let held = world.engine.cluster_view().leases[&lease].held.clone().unwrap();
        held.group
    };
    let group = kept(&world);
    // As it comes from a cluster: equal, and another.
    let held = world.cluster.leases.get_mut(&lease).unwrap().held.as_mut().unwrap();
    held.group = Arc::new((*group).clone());
    let shown = world.cluster.leases[&lease].clone();
    world.tell(Input::View(ViewChange::Lease(Box::new(shown))));
    assert!(Arc::ptr_eq(&group, &kept(&world)));
    world.show();
    assert!(Arc::ptr_eq(&group, &kept(&world)));
    let held = world.cluster.leases.get_mut(&lease).unwrap().held.as_mut().unwrap();
    Arc::make_mut(&mut held.group).name.push('x');
    world.show();
    assert_eq!(kept(&world).name, format!("{}x", group.name));
}

#[test]
fn a_decision_is_said_again_only_when_another_came_between() {
    let mut world = World::started();
    for on in [true, true, false, true] {
        world.tell(Input::View(ViewChange::Maintenance(on)));
    }
    let said = world.records.iter().map(|entry| entry.decision.to_string());
    let said: Vec<String> = said.filter(|words| words.starts_with("maintenance")).collect();
    assert_eq!(said.len(), 3, "{said:?}");
}
