//! A wrong or empty cluster closes nothing, and a lost lease only with a second kind of evidence.

use std::time::Duration;

use akash_types::{Action, BidState, ChainEvent, LeaseClosedReason, LeaseId};
use provider_engine::cluster::command::Operation;
use provider_engine::cluster::recognition::{Acceptance, Memory, Recognition, UnknownCluster};
use provider_engine::cluster::view::{LeaseView, ViewChange};
use provider_engine::manifest::{ManifestAnswer, ManifestRefusal};
use provider_engine::reconcile::Drift;
use provider_engine::{Input, OperatorRequest, Reply};

use crate::world::{World, order_id, provider};

const DAY: u64 = 86_400;

/// How many leases an earlier run has left, and how old they are in seconds.
const EARLIER: [(u64, u64); 12] = [
    (1, 120),
    (1, 3_600),
    (1, 2 * DAY),
    (3, 120),
    (3, 3_600),
    (3, 2 * DAY),
    (5, 120),
    (5, 3_600),
    (5, 2 * DAY),
    (500, 120),
    (500, 3_600),
    (500, 2 * DAY),
];

/// A provider that is about to start on an empty cluster, with leases of an earlier run.
fn before_start(leases: u64, age: u64) -> (World, Memory) {
    let mut world = World::new();
    world.chain.pace = if leases > 100 { 3_600 } else { 600 };
    let found: Vec<_> = (1..=leases).map(|dseq| world.found(dseq, age)).collect();
    let deployed = found.into_iter().map(|lease| (lease, 5)).collect();
    (world, Memory { deployed, cluster: Some("right".into()), ..Memory::default() })
}

fn recognition(world: &World) -> Recognition {
    world.engine.status().cluster.recognition
}

fn is_unknown(world: &World) -> bool {
    matches!(recognition(world), Recognition::Unknown(_))
}

fn drift(world: &mut World) -> Vec<Drift> {
    let Reply::Drift(drift) = world.operator(OperatorRequest::Drift) else { panic!() };
    drift
}

/// A week in which the operator does nothing: no close, no command, no withdrawal.
fn a_week_passes_without_a_write(world: &mut World) {
    world.days(7);
    assert_eq!(world.submitted, [], "nothing may reach the chain");
    assert_eq!(world.commands, [], "nothing may reach the cluster");
}

#[test]
fn on_an_empty_cluster_nothing_happens_for_a_week_if_the_store_proves_deployments() {
    for (leases, age) in EARLIER {
        let (mut world, memory) = before_start(leases, age);
        world.restart_with(memory);
        assert!(is_unknown(&world), "{leases} leases, {age} s old");
        a_week_passes_without_a_write(&mut world);
    }
}

#[test]
fn on_an_empty_cluster_nothing_happens_for_a_week_if_withdrawals_prove_deployments() {
    for (leases, age) in EARLIER.into_iter().filter(|(_, age)| *age > 120) {
        let (mut world, _) = before_start(leases, age);
        world.chain.withdrawn = 2_000 * 5;
        world.restart();
        assert!(is_unknown(&world), "{leases} leases, {age} s old");
        a_week_passes_without_a_write(&mut world);
    }
}

#[test]
fn without_any_proof_an_empty_cluster_is_known_and_old_leases_stay_without_a_witness() {
    for (leases, age) in EARLIER {
        let (mut world, _) = before_start(leases, age);
        world.restart();
        assert_eq!(recognition(&world), Recognition::Known, "accrued escrow is no proof");
        a_week_passes_without_a_write(&mut world);
    }
}

#[test]
fn one_abandoned_lease_does_not_stop_bidding() {
    let (mut world, _) = before_start(1, 2 * DAY);
    world.restart();
    world.order(7);
    assert!(matches!(world.submitted[..], [(_, Action::CreateBid(_))]));
}

#[test]
fn an_unknown_cluster_is_not_bid_for_and_manifests_are_told_why() {
    let (mut world, memory) = before_start(3, DAY);
    world.restart_with(memory);
    world.order(7);
    world.manifest(1);
    let (_, Reply::Manifest(ManifestAnswer::Refused(refusal))) = world.replies.pop().unwrap()
    else {
        panic!()
    };
    let ManifestRefusal::ClusterUnavailable(why) = refusal else { panic!("{refusal}") };
    assert!(why.contains("does not know this cluster"), "{why}");
    world.blocks(3);
    assert_eq!((world.submitted.len(), world.commands.len()), (0, 0));
    let status = world.engine.status().cluster;
    assert_eq!(status.expected.as_deref(), Some("right"));
}

#[test]
fn an_open_bid_ends_by_its_timeout_while_the_cluster_is_unknown() {
    let (mut world, memory) = before_start(2, DAY);
    world.found(9, 0);
    world.chain.leases.remove(&order_id(9));
    let bid = world.chain.bids.get_mut(&order_id(9)).unwrap();
    (bid.state, bid.created_at) = (BidState::Open, world.chain.height);
    world.chain.orders.get_mut(&order_id(9)).unwrap().state = akash_types::OrderState::Open;
    world.restart_with(memory);
    assert!(is_unknown(&world));
    world.blocks(3);
    assert_eq!(world.closes(), [LeaseClosedReason::UNSPECIFIED]);
}

#[test]
fn the_same_objects_under_another_uid_bid_without_an_operator() {
    let mut world = World::started();
    let lease = world.running(1);
    world.cluster.uid = Some("another".into());
    let deployed = [(lease, 5)].into();
    world.restart_with(Memory { deployed, cluster: Some("right".into()), ..Memory::default() });
    assert_eq!(recognition(&world), Recognition::Known);
    let adopted = world.records.iter().map(|entry| entry.decision.to_string());
    assert!(adopted.into_iter().any(|words| words == "cluster another is known, instead of right"));
    world.order(2);
    assert!(matches!(world.submitted[..], [(_, Action::CreateBid(_))]));
}

#[test]
fn a_cluster_whose_objects_all_vanish_is_unknown_until_one_is_seen_again() {
    let mut world = World::started();
    let (first, second) = (world.running(1), world.running(2));
    world.submitted.clear();
    world.commands.clear();
    let leases = std::mem::take(&mut world.cluster.leases);
    for lease in [first, second] {
        world.tell(Input::View(ViewChange::LeaseGone(lease)));
    }
    let why = UnknownCluster::NoObjects { deployed: 2 };
    assert_eq!(recognition(&world), Recognition::Unknown(why));
    world.blocks(500);
    assert_eq!((world.submitted.len(), world.commands.len()), (0, 0));
    world.cluster.leases = leases;
    world.show();
    assert_eq!(recognition(&world), Recognition::Known);
    world.blocks(5);
    assert_eq!(world.stage(second.order_id()), Some("running"));
    assert_eq!(world.commands, [], "nothing has to be written");
}

#[test]
fn a_namespace_that_vanishes_while_others_are_seen_comes_back_without_a_restart() {
    let mut world = World::started();
    world.running(1);
    let lease = world.running(2);
    world.commands.clear();
    world.cluster.leases.remove(&lease);
    world.tell(Input::View(ViewChange::LeaseGone(lease)));
    world.wait(Duration::from_secs(90));
    assert!(matches!(world.commands[..], [Operation::Deploy(_)]), "{:?}", world.commands);
    assert_eq!(world.stage(lease.order_id()), Some("running"));
    assert_eq!(world.closes(), []);
}

fn without_manifests(world: &mut World) {
    for lease in world.cluster.leases.values_mut() {
        lease.held = None;
    }
}

#[test]
fn a_wrong_manifest_namespace_is_named_and_deletes_nothing() {
    let mut world = World::started();
    for dseq in 1..=3 {
        world.running(dseq);
    }
    without_manifests(&mut world);
    world.restart();
    let Recognition::Unknown(why) = recognition(&world) else { panic!() };
    assert!(why.to_string().contains("--k8s-manifest-ns"), "{why}");
    world.chain.pace = 600;
    a_week_passes_without_a_write(&mut world);
}

#[test]
fn a_deleted_manifest_is_drift_and_the_tenant_or_the_operator_brings_it_back() {
    let mut world = World::started();
    world.running(1);
    let lease = world.running(2);
    let order = lease.order_id();
    let delete = |world: &mut World| {
        world.commands.clear();
        world.cluster.leases.get_mut(&lease).unwrap().held = None;
        let view = world.cluster.leases[&lease].clone();
        world.tell(Input::View(ViewChange::Lease(Box::new(view))));
        assert_eq!(world.stage(order), Some("manifest missing"));
        world.blocks(500);
        assert_eq!((world.closes().len(), world.commands.len()), (0, 0));
        assert!(drift(world).contains(&Drift::ManifestMissing(lease)));
    };
    delete(&mut world);
    assert_eq!(world.operator(OperatorRequest::Redeploy(lease)), Reply::Done);
    assert_eq!(world.stage(order), Some("running"));

    delete(&mut world);
    world.restart();
    world.blocks(500);
    assert_eq!((world.closes().len(), world.commands.len()), (0, 0));
    let Reply::Refused(why) = world.operator(OperatorRequest::Redeploy(lease)) else { panic!() };
    assert!(why.contains("does not have the manifest"), "{why}");
    world.manifest(2);
    assert_eq!(world.stage(order), Some("running"));
}

#[test]
fn a_lease_won_just_before_a_downtime_gets_its_time_anew_and_a_witness_lets_it_close() {
    let mut world = World::started();
    world.running(1);
    let order = world.order(2);
    world.land();
    world.lease(order);
    world.blocks(45);
    world.restart();
    world.blocks(49);
    assert_eq!(world.closes(), []);
    world.blocks(3);
    assert_eq!(world.closes(), [LeaseClosedReason::MANIFEST_TIMEOUT]);
}

#[test]
fn a_lost_lease_waits_a_day_and_closes_only_if_an_older_one_is_here() {
    for (older, closes) in [(true, 1), (false, 0)] {
        let mut world = World::new();
        world.chain.pace = 600;
        let (old, new) = (world.found(1, 3 * DAY), world.found(2, 2 * DAY));
        let (here, lost) = if older { (old, new) } else { (new, old) };
        show_deployed(&mut world, here);
        world.start();
        assert_eq!(recognition(&world), Recognition::Known);
        world.blocks(143);
        assert_eq!(
            world.closes(),
            [],
            "a day is 144 blocks here: {:?}",
            world.why(lost.order_id())
        );
        assert!(drift(&mut world).contains(&Drift::LeaseLost(lost)));
        assert_eq!(world.engine.reservations().count(), 2, "its capacity stays reserved");
        world.days(1);
        assert_eq!(world.closes().len(), closes, "an older lease is here: {older}");
        let withdrawn =
            |action: &Action| matches!(action, Action::Withdraw { lease } if *lease == lost);
        assert!(!world.submitted.iter().any(|(_, action)| withdrawn(action)));
        world.submitted.clear();
        if !older {
            assert_eq!(world.operator(OperatorRequest::CloseLost(lost)), Reply::Done);
            assert_eq!(world.closes(), [LeaseClosedReason::MANIFEST_TIMEOUT]);
        }
    }
}

/// The cluster has everything of a lease, from an earlier run.
fn show_deployed(world: &mut World, lease: LeaseId) {
    let mut other = World::started();
    other.running(lease.order_id().dseq());
    let view = other.cluster.leases.remove(&lease).unwrap();
    world.cluster.leases.insert(lease, view);
}

#[test]
fn an_accepted_cluster_runs_what_this_process_knows_at_once() {
    let mut world = World::started();
    let lease = world.running(1);
    world.cluster.leases.clear();
    world.tell(Input::View(ViewChange::LeaseGone(lease)));
    world.wait(Duration::from_secs(120));
    assert!(is_unknown(&world));
    world.commands.clear();
    assert_eq!(world.operator(OperatorRequest::AcceptCluster), Reply::Done);
    assert!(matches!(world.commands[..], [Operation::Deploy(_)]));
    assert_eq!(world.stage(lease.order_id()), Some("running"));
    assert!(matches!(world.operator(OperatorRequest::AcceptCluster), Reply::Refused(_)));
}

#[test]
fn after_acceptance_a_lease_runs_when_its_manifest_is_sent_again_and_else_closes_after_a_day() {
    let (mut world, memory) = before_start(3, DAY);
    world.restart_with(memory);
    assert!(is_unknown(&world));
    assert_eq!(world.operator(OperatorRequest::AcceptCluster), Reply::Done);
    assert_eq!(recognition(&world), Recognition::Known);
    assert!(world.engine.leases().all(|lease| lease.lacks_manifest));
    world.manifest(2);
    assert_eq!(world.stage(order_id(2)), Some("running"));
    world.blocks(140);
    assert_eq!(world.closes(), [], "a day is 144 blocks here");
    world.days(1);
    assert_eq!(
        world.closes().len(),
        2,
        "accepting is the second evidence, the breaker is not asked"
    );
    assert_eq!(world.stage(order_id(2)), Some("running"));
}

#[test]
fn a_lease_that_ends_after_acceptance_does_not_make_the_cluster_unknown_again() {
    let (mut world, memory) = before_start(3, DAY);
    world.restart_with(memory);
    world.operator(OperatorRequest::AcceptCluster);
    world.manifest(2);
    let closed = world.close(LeaseId::new(order_id(2), provider()));
    world.block(&[closed]);
    world.blocks(3);
    assert_eq!(world.stage(order_id(2)), None);
    assert_eq!(recognition(&world), Recognition::Known);
}

#[test]
fn acceptance_holds_for_that_cluster_over_a_restart_and_for_no_other() {
    let (mut world, memory) = before_start(3, DAY);
    let height = world.chain.height + 1;
    world.cluster.uid = Some("new".into());
    let accepted = |cluster: &str| Some(Acceptance { cluster: cluster.into(), height });
    world.restart_with(Memory { accepted: accepted("other"), ..memory.clone() });
    assert!(is_unknown(&world));
    world.restart_with(Memory { accepted: accepted("new"), ..memory.clone() });
    assert_eq!(recognition(&world), Recognition::Known);
    let deployed = memory.deployed.keys().map(|lease| (*lease, height + 1)).collect();
    world.restart_with(Memory { deployed, accepted: accepted("new"), ..memory.clone() });
    assert!(is_unknown(&world), "what was deployed to it since is missing");
    world.restart_accepting(memory.clone(), "other");
    assert!(is_unknown(&world));
    world.restart_accepting(memory, "new");
    assert_eq!(recognition(&world), Recognition::Known);
}

#[test]
fn what_is_over_on_chain_is_torn_down_once_the_cluster_is_known_again() {
    let mut world = World::started();
    for dseq in 1..=3 {
        world.running(dseq);
    }
    without_manifests(&mut world);
    world.show();
    assert!(is_unknown(&world));
    world.commands.clear();
    let over = LeaseId::new(order_id(1), provider());
    let closed = world.close(over);
    world.block(&[closed]);
    world.blocks(50);
    assert_eq!(world.commands, []);
    world.operator(OperatorRequest::AcceptCluster);
    world.blocks(10);
    assert!(matches!(world.commands[..], [Operation::Teardown { lease, .. }] if lease == over));
}

#[test]
fn a_bid_that_this_process_did_not_sign_stops_closes_for_a_day() {
    let mut world = World::started();
    world.blocks(40);
    let order = world.order(1);
    world.land();
    world.lease(order);
    let foreign = order_id(99).bid_id(provider());
    world.block(&[ChainEvent::BidCreated { id: foreign, price: None }]);
    assert!(world.engine.status().rival);
    world.blocks(100);
    assert_eq!(world.closes(), []);
    assert!(world.why(order).iter().any(|words| words.contains("same key")));
    world.chain.pace = 600;
    world.days(1);
    world.blocks(2);
    assert!(!world.engine.status().rival);
    assert_eq!(world.closes(), [LeaseClosedReason::MANIFEST_TIMEOUT]);
}

#[test]
fn a_wait_does_not_count_while_the_cluster_is_out_of_sight() {
    let mut world = World::started();
    let order = world.order(1);
    world.land();
    world.lease(order);
    world.blocks(40);
    world.tell(Input::View(ViewChange::Lost));
    world.blocks(1_000);
    world.show();
    world.blocks(9);
    assert_eq!(world.closes(), []);
    world.blocks(3);
    assert_eq!(world.closes(), [LeaseClosedReason::MANIFEST_TIMEOUT]);
}

#[test]
fn an_object_of_a_lease_that_is_not_ours_to_run_makes_no_cluster_known() {
    let (mut world, memory) = before_start(2, DAY);
    let stranger = LeaseId::new(order_id(70), provider());
    world.cluster.leases.insert(stranger, LeaseView::empty(stranger));
    world.restart_with(memory);
    assert!(is_unknown(&world));
}
