//! What goes wrong, and what is left of it.

use std::time::Duration;

use provider_engine::cluster::command::{Command, CommandFailure, CommandId, Operation};
use provider_engine::cluster::port::ReadFailure;
use provider_engine::cluster::view::Condition;

use super::super::{Disturbance, Faults, LeaseRecord, Settings, SimCluster, SimInput};
use super::books::check_books;
use super::support::*;

#[test]
fn a_lost_node_is_not_a_lost_workload() {
    let mut bench = Bench::new(SMALL);
    bench.deploy(&workload(1, vec![service("web", "nginx", 1)]));
    bench.pass(60);
    let node = bench.of(1).replicas[0].node.clone().unwrap();
    bench.give(SimInput::Disturb(Disturbance::NodeLost(node.clone())));
    assert!(!bench.seen.nodes[&node].schedulable());
    let why = format!("node {node} does not answer");
    assert_eq!(bench.conditions(1), [&Condition::Failing(why)]);
    bench.give(SimInput::Disturb(Disturbance::NodeBack(node.clone())));
    assert_eq!(bench.conditions(1), [&Condition::Ready]);
    assert_eq!(bench.of(1).replicas[0].restarts, 0);
    // Lost for long, it is made elsewhere.
    bench.give(SimInput::Disturb(Disturbance::NodeLost(node.clone())));
    bench.pass(400);
    assert_eq!(bench.conditions(1), [&Condition::Ready]);
    assert_ne!(bench.of(1).replicas[0].node, Some(node));
}

#[test]
fn an_api_that_does_not_answer_destroys_nothing_and_says_nothing() {
    let mut bench = Bench::new(SMALL);
    bench.deploy(&workload(1, vec![service("web", "nginx", 1)]));
    bench.pass(60);
    let down = Disturbance::ApiDown(Some(Duration::from_secs(3600)));
    bench.give(SimInput::Disturb(down));
    assert!(bench.lost);
    let before = bench.seen.clone();
    for operation in [
        Operation::Maintain(true),
        Operation::Deploy(workload(2, vec![service("web", "nginx", 1)])),
        teardown(1),
    ] {
        assert!(matches!(bench.run(operation), Err(CommandFailure::Unavailable(_))));
    }
    assert!(matches!(bench.cluster.status(lease(1)), Err(ReadFailure::Unavailable(_))));
    bench.pass(3599);
    assert!(bench.lost);
    bench.pass(1);
    assert!(!bench.lost);
    assert_eq!(bench.seen, before);
}

#[test]
fn answers_can_be_lost_doubled_late_and_wrong() {
    let mut bench = Bench::new(SMALL);
    let mut count = |faults: Faults| {
        bench.give(SimInput::Disturb(Disturbance::Faults(faults)));
        bench.answers.clear();
        let operation = Operation::Maintain(true);
        for _ in 0..10 {
            let command = Command { id: CommandId(1), operation: operation.clone() };
            bench.give(SimInput::Command(command));
        }
        let at_once = bench.answers.len();
        bench.pass(100);
        (at_once, bench.answers.len(), bench.answers.iter().filter(|a| a.is_err()).count())
    };
    let late_by = Duration::from_secs(50);
    let all = 1000;
    assert_eq!(count(Faults { lose: all, ..Faults::default() }), (0, 0, 0));
    assert_eq!(count(Faults { double: all, late_by, ..Faults::default() }), (10, 20, 0));
    assert_eq!(count(Faults { late: all, late_by, ..Faults::default() }), (0, 10, 0));
    assert_eq!(count(Faults { fail: all, ..Faults::default() }), (10, 10, 10));
    assert_eq!(count(Faults { fail_after: all, ..Faults::default() }), (10, 10, 10));
    assert!(bench.seen.maintenance, "it was done all the same");
}

#[test]
fn a_mass_failure_kills_containers_and_they_come_back() {
    let mut bench = Bench::new("4*node:cpu=64,memory=64Gi,disk=900Gi");
    for dseq in 1..=50 {
        bench.deploy(&workload(dseq, vec![service("web", "nginx", 2)]));
    }
    bench.pass(60);
    bench.give(SimInput::Disturb(Disturbance::KillContainers { per_mille: 1000 }));
    for dseq in 1..=50 {
        assert!(bench.conditions(dseq).iter().all(|c| matches!(c, Condition::Failing(_))));
    }
    bench.pass(60);
    for dseq in 1..=50 {
        assert_eq!(bench.conditions(dseq), [&Condition::Ready; 2]);
    }
}

#[test]
fn a_cluster_made_again_from_what_was_kept_is_the_same() {
    let mut bench = Bench::new(SMALL);
    let web =
        exposed(exposed(service("web", "nginx", 2), 80, &["a.example.com"], ""), 22, &[], "ip");
    bench.deploy(&workload(1, vec![web]));
    bench.deploy(&workload(2, vec![service("web", "web:crash", 1)]));
    bench.run(Operation::Maintain(true)).unwrap();
    bench.pass(5);
    let kept: Vec<String> =
        bench.cluster.records().map(|record| serde_json::to_string(&record).unwrap()).collect();
    let read = kept.iter().map(|text| serde_json::from_str::<LeaseRecord>(text).unwrap());
    let mut again = SimCluster::restore(
        SMALL.parse().unwrap(),
        Settings::default(),
        7,
        bench.cluster.now(),
        true,
        read.collect::<Vec<_>>(),
    );
    assert_eq!(again.view(), bench.cluster.view());
    assert_eq!(again.next_due(), bench.cluster.next_due());
    check_books(&again);
    again.step(Duration::from_secs(600), SimInput::Tick);
    bench.pass(595);
    assert_eq!(again.view().leases[&lease(1)], bench.cluster.view().leases[&lease(1)]);
}
