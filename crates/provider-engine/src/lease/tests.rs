//! The life of a lease, stage by stage.

use std::collections::BTreeMap;

use akash_sdl::manifest::{Group, Service};
use akash_types::{Address, DeploymentId, GroupId, LeaseState, OrderId, Reclamation};

use super::*;
use crate::cluster::view::{Amounts, Condition, Replica};

fn lease_id() -> LeaseId {
    let owner = Address::from_bytes(&[1; 20]).unwrap();
    let group = GroupId::new(DeploymentId::new(owner, 7).unwrap(), 1).unwrap();
    LeaseId::new(OrderId::new(group, 1).unwrap(), Address::from_bytes(&[2; 20]).unwrap())
}

fn on_chain(state: LeaseState, reclamation: Option<Reclamation>) -> Lease {
    Lease {
        id: lease_id(),
        state,
        price: "5uact".parse().unwrap(),
        created_at: 12,
        closed_on: None,
        reason: None,
        reclamation,
    }
}

fn reclaimable(deadline: Option<u64>) -> Option<Reclamation> {
    Some(Reclamation {
        window: Duration::from_secs(3_600),
        started_at: deadline.map(|_| 20),
        deadline,
        reason: deadline.map(|_| LeaseClosedReason::DECOMMISSION),
    })
}

fn group() -> Arc<Group> {
    let service = Service { name: "web".to_owned(), count: 2, ..Service::default() };
    Arc::new(Group { name: "west".to_owned(), services: vec![service] })
}

fn workload() -> Arc<Workload> {
    let lease = lease_id();
    let cards = BTreeMap::new();
    Arc::new(Workload {
        lease,
        version: None,
        group: group(),
        cards,
        withheld: vec![],
        endpoints_to_take: vec![],
        ignored: BTreeMap::new(),
    })
}

fn wait(kind: WaitKind, until: Option<u64>) -> ManifestWait {
    let until = until.map(sight);
    ManifestWait { kind, since: sight(0), until, gaps: 0 }
}

fn sight(seconds: u64) -> SightTime {
    SightTime::default().after(Duration::from_secs(seconds))
}

fn new(lease: &Lease) -> LeaseRecord {
    LeaseRecord::new(lease, None, wait(WaitKind::Created, Some(300)))
}

fn alive() -> LeaseRecord {
    new(&on_chain(LeaseState::Active, None))
}

fn running() -> LeaseRecord {
    LeaseRecord { stage: Stage::Running, workload: Some(workload()), ..alive() }
}

fn at(seconds: u64) -> BlockTime {
    BlockTime::from_unix(seconds)
}

fn step(lease: &mut LeaseRecord, input: LeaseInput) -> Vec<LeaseAction> {
    step_at(lease, input, 1_000)
}

fn step_at(lease: &mut LeaseRecord, input: LeaseInput, time: u64) -> Vec<LeaseAction> {
    let patience = Patience::default();
    lease.step(input, &LeaseContext { time: at(time), sight: sight(1_000), gaps: 0, patience })
}

fn looked(lease: Lease, height: u64) -> LeaseInput {
    LeaseInput::Looked(Box::new(lease), height)
}

fn pods(conditions: &[Condition]) -> Vec<Replica> {
    let replica = |condition: &Condition| Replica {
        service: "web".to_owned(),
        node: None,
        asks: Amounts::default(),
        card: None,
        condition: condition.clone(),
        restarts: 0,
    };
    conditions.iter().map(replica).collect()
}

fn sighting(health: Health) -> Sighting {
    Sighting { present: true, terminating: false, held: Some((workload(), true)), health }
}

fn starting() -> Health {
    health(&group(), &pods(&[Condition::Ready, Condition::Starting]))
}

#[test]
fn health_is_as_many_ready_pods_as_are_asked_for() {
    use Condition::{Ending, Failing, Ready, Unschedulable};
    assert!(health(&group(), &pods(&[Ready, Ready])).is_healthy());
    assert!(health(&group(), &pods(&[Ready, Ending, Ready, Ending])).is_healthy());
    let why = "no room".to_owned();
    let placeless = health(&group(), &pods(&[Ready, Unschedulable(why)]));
    assert!(matches!(placeless, Health::Unschedulable { .. }));
    let failing = health(&group(), &pods(&[Ready, Failing("exit 1".to_owned())]));
    assert_eq!(failing.to_string(), "service \"web\" has 1 of 2 pods ready: exit 1");
    assert!(matches!(health(&group(), &[]), Health::Missing { .. }));
    assert!(matches!(health(&group(), &pods(&[Ending])), Health::Missing { .. }));
}

#[test]
fn only_two_readings_at_two_heights_lead_to_teardown() {
    let closed = || on_chain(LeaseState::Closed, None);
    let mut lease = running();
    assert_eq!(step(&mut lease, looked(closed(), 50)), [LeaseAction::LookAfter(50)]);
    assert_eq!(lease.stage, Stage::Running, "nothing is touched on one reading");
    assert_eq!(step(&mut lease, looked(closed(), 50)), [LeaseAction::LookAfter(50)]);
    assert_eq!(step(&mut lease, looked(on_chain(LeaseState::Active, None), 51)), []);
    assert_eq!(step(&mut lease, looked(closed(), 52)), [LeaseAction::LookAfter(52)]);
    let actions = step(&mut lease, looked(closed(), 53));
    let [LeaseAction::Teardown(evidence)] = actions[..] else { panic!("{actions:?}") };
    assert_eq!(evidence.heights(), (52, 53));
    assert_eq!(lease.stage_name(), "tearing down");
}

#[test]
fn what_runs_is_adopted_without_a_word_to_the_cluster() {
    let mut lease = alive();
    assert_eq!(step(&mut lease, LeaseInput::Seen(sighting(Health::Healthy))), []);
    assert_eq!(lease.stage, Stage::Running);
}

#[test]
fn what_was_promised_before_a_restart_is_carried_out() {
    let mut lease = alive();
    let held = Some((workload(), false));
    let seen = Sighting { held, ..sighting(Health::Missing { service: "web".to_owned() }) };
    let actions = step(&mut lease, LeaseInput::Seen(seen));
    assert_eq!(actions, [LeaseAction::Deploy(workload()), LeaseAction::CheckLater]);
}

#[test]
fn a_manifest_that_does_not_come_closes_the_lease_with_its_reason() {
    let mut lease = alive();
    assert_eq!(step(&mut lease, LeaseInput::Deadline { waited: false }), []);
    let actions = step(&mut lease, LeaseInput::Deadline { waited: true });
    assert_eq!(actions, [LeaseAction::ProposeClose(LeaseCause::ManifestTimeout)]);
    assert_eq!(lease.safeguard(LeaseCause::ManifestTimeout, 0), Safeguard::None);
    assert_eq!(lease.safeguard(LeaseCause::ManifestTimeout, 1), Safeguard::Breaker);
    let actions = step(&mut lease, LeaseInput::Close(LeaseCause::ManifestTimeout));
    assert_eq!(actions, [LeaseAction::CloseBid(LeaseClosedReason::MANIFEST_TIMEOUT)]);
}

#[test]
fn unhealthy_is_counted_in_a_row_and_closed_past_the_budget() {
    let mut lease = running();
    for _ in 0..40 {
        let actions = step(&mut lease, LeaseInput::Checked(sighting(starting())));
        assert_eq!(actions, [LeaseAction::CheckLater]);
    }
    let actions = step(&mut lease, LeaseInput::Checked(sighting(starting())));
    assert!(actions.contains(&LeaseAction::ProposeClose(LeaseCause::Unhealthy)));
    step(&mut lease, LeaseInput::Seen(sighting(Health::Healthy)));
    assert_eq!((lease.failed_checks, &lease.stage), (0, &Stage::Running));
    assert_eq!(LeaseCause::Unhealthy.reason(), LeaseClosedReason::UNSTABLE);
}

#[test]
fn without_a_place_the_budget_is_another() {
    let mut lease = running();
    let why = "no node has 8 GPUs".to_owned();
    let placeless = Health::Unschedulable { service: "web".to_owned(), why };
    for _ in 0..240 {
        let actions = step(&mut lease, LeaseInput::Checked(sighting(placeless.clone())));
        assert_eq!(actions, [LeaseAction::CheckLater]);
    }
    let actions = step(&mut lease, LeaseInput::Checked(sighting(placeless)));
    assert!(actions.contains(&LeaseAction::ProposeClose(LeaseCause::Unschedulable)));
}

#[test]
fn what_vanished_is_deployed_again() {
    let mut lease = running();
    let missing = || sighting(Health::Missing { service: "web".to_owned() });
    step(&mut lease, LeaseInput::Checked(missing()));
    step(&mut lease, LeaseInput::Checked(missing()));
    let actions = step(&mut lease, LeaseInput::Checked(missing()));
    assert_eq!(actions, [LeaseAction::CheckLater, LeaseAction::Deploy(workload())]);
}

#[test]
fn a_reclaimable_lease_is_announced_waited_for_and_then_closed() {
    let mut lease = new(&on_chain(LeaseState::Active, reclaimable(None)));
    let cause = LeaseCause::Operator(LeaseClosedReason::DECOMMISSION);
    let actions = step(&mut lease, LeaseInput::Close(cause));
    assert_eq!(actions, [LeaseAction::StartReclaim(LeaseClosedReason::DECOMMISSION)]);
    let reclaiming = || on_chain(LeaseState::Reclaiming, reclaimable(Some(5_000)));
    let actions = step(&mut lease, looked(reclaiming(), 60));
    assert_eq!(actions, [LeaseAction::WakeAt(at(5_000))]);
    let mut due = lease.clone();
    let actions = step_at(&mut due, LeaseInput::Deadline { waited: true }, 5_000);
    assert_eq!(actions, [LeaseAction::CloseBid(LeaseClosedReason::DECOMMISSION)]);
    let mut found = new(&reclaiming());
    let actions = step_at(&mut found, LeaseInput::IntentEnded, 5_000);
    assert_eq!(actions, [LeaseAction::Look], "announced before a restart: looked at and closed");
    let actions = step_at(&mut found, looked(reclaiming(), 61), 5_000);
    assert_eq!(actions, [LeaseAction::CloseBid(LeaseClosedReason::DECOMMISSION)]);
}

#[test]
fn teardown_is_said_again_until_nothing_is_there() {
    let evidence = Evidence::new(LeaseState::Closed, None, 1, 2).unwrap();
    let mut lease = LeaseRecord { stage: Stage::TearingDown(evidence), ..running() };
    let there = |terminating| Sighting { terminating, ..sighting(Health::Healthy) };
    let actions = step(&mut lease, LeaseInput::Checked(there(false)));
    assert_eq!(actions, [LeaseAction::Teardown(evidence), LeaseAction::CheckLater]);
    let actions = step(&mut lease, LeaseInput::Checked(there(true)));
    assert_eq!(actions, [LeaseAction::CheckLater]);
    let gone = Sighting { present: false, ..there(false) };
    assert_eq!(step(&mut lease, LeaseInput::Seen(gone)), [LeaseAction::End]);
}

#[test]
fn a_newer_manifest_is_deployed_and_counting_begins_anew() {
    let mut lease = LeaseRecord { failed_checks: 17, ..running() };
    let actions = step(&mut lease, LeaseInput::Accepted(workload()));
    assert_eq!(actions, [LeaseAction::Deploy(workload()), LeaseAction::CheckLater]);
    assert_eq!((lease.failed_checks, &lease.stage), (0, &Stage::Deploying));
    let failed = Err(CommandFailure::Refused("admission".to_owned()));
    assert_eq!(step(&mut lease, LeaseInput::Deployed(failed)), [LeaseAction::CheckLater]);
    assert_eq!(lease.stage, Stage::Deploying);
}

fn without_manifest() -> Sighting {
    Sighting { held: None, ..sighting(Health::Missing { service: "web".to_owned() }) }
}

fn absent() -> Sighting {
    Sighting { present: false, ..without_manifest() }
}

#[test]
fn objects_without_a_manifest_are_neither_counted_nor_written_and_the_tenant_brings_it_back() {
    for mut lease in [running(), alive()] {
        assert_eq!(step(&mut lease, LeaseInput::Seen(without_manifest())), []);
        assert_eq!(lease.stage, Stage::ManifestMissing);
        for _ in 0..1_000 {
            assert_eq!(step(&mut lease, LeaseInput::Checked(without_manifest())), []);
        }
        assert_eq!(step(&mut lease, LeaseInput::Deadline { waited: true }), []);
        assert!(lease.lacks_manifest());
        let actions = step(&mut lease, LeaseInput::Accepted(workload()));
        assert_eq!(actions, [LeaseAction::Deploy(workload()), LeaseAction::CheckLater]);
    }
}

#[test]
fn a_manifest_that_comes_back_by_itself_is_adopted() {
    let mut lease = LeaseRecord { stage: Stage::ManifestMissing, ..alive() };
    assert_eq!(step(&mut lease, LeaseInput::Seen(sighting(Health::Healthy))), []);
    assert_eq!(lease.stage, Stage::Running);
}

#[test]
fn when_the_last_object_is_gone_what_is_known_comes_back_and_the_rest_waits() {
    let mut lease = LeaseRecord { stage: Stage::ManifestMissing, ..running() };
    assert_eq!(step(&mut lease, LeaseInput::Seen(absent())), [LeaseAction::CheckLater]);
    assert!(matches!(lease.stage, Stage::Degraded(Health::Missing { .. })));

    let mut lease = LeaseRecord { stage: Stage::ManifestMissing, ..alive() };
    let until = sight(1_000 + 24 * 3_600);
    assert_eq!(step(&mut lease, LeaseInput::Seen(absent())), [LeaseAction::WaitUntil(until)]);
    assert_eq!(lease.wait().unwrap().kind, WaitKind::Lost);
}

#[test]
fn a_lease_that_was_found_waits_by_whether_its_deadline_had_passed() {
    let found =
        || LeaseRecord { stage: Stage::AwaitingManifest(wait(WaitKind::Found, None)), ..alive() };
    let timeout = Some(Duration::from_secs(300));
    let known = |overdue| LeaseInput::CreationKnown { overdue, timeout };
    let mut late = found();
    let until = sight(24 * 3_600);
    assert_eq!(step(&mut late, known(true)), [LeaseAction::WaitUntil(until)]);
    assert_eq!(late.wait().unwrap().cause(), LeaseCause::ManifestLost);
    let mut early = found();
    assert_eq!(step(&mut early, known(false)), [LeaseAction::WaitUntil(sight(300))]);
    assert_eq!(step(&mut early, known(true)), [], "it is known once");
    for lease in [found(), late, early] {
        let witness = Safeguard::Witness(sight(0));
        assert_eq!(lease.safeguard(LeaseCause::ManifestTimeout, 0), witness);
    }
}

#[test]
fn an_accepted_cluster_gets_what_is_known_at_once_and_the_rest_from_its_tenant() {
    let mut lease = running();
    let actions = step(&mut lease, LeaseInput::ClusterAccepted);
    assert_eq!(actions, [LeaseAction::Deploy(workload()), LeaseAction::CheckLater]);

    let mut lost =
        LeaseRecord { stage: Stage::AwaitingManifest(wait(WaitKind::Lost, Some(1))), ..alive() };
    let until = sight(1_000 + 24 * 3_600);
    assert_eq!(step(&mut lost, LeaseInput::ClusterAccepted), [LeaseAction::WaitUntil(until)]);
    assert_eq!(lost.safeguard(LeaseCause::ManifestLost, 7), Safeguard::None);

    let mut fresh = alive();
    assert_eq!(step(&mut fresh, LeaseInput::ClusterAccepted), [], "its own wait goes on");
}

#[test]
fn closing_what_is_there_asks_the_breaker_and_closing_what_is_not_asks_for_a_witness() {
    let mut lease = running();
    assert!(lease.observe(true, sight(5)));
    assert!(!lease.observe(true, sight(6)), "it was there before");
    assert_eq!(lease.safeguard(LeaseCause::Unhealthy, 0), Safeguard::Breaker);
    lease.observe(false, sight(9));
    assert_eq!(lease.safeguard(LeaseCause::Unhealthy, 0), Safeguard::Witness(sight(9)));
    let operator = LeaseCause::Operator(LeaseClosedReason::DECOMMISSION);
    assert_eq!(lease.safeguard(operator, 0), Safeguard::None);
}
