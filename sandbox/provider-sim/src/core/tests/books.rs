//! Whatever happens, the books are right.

use std::collections::BTreeMap;

use proptest::prelude::*;
use provider_engine::cluster::command::Operation;
use provider_engine::cluster::view::{Amounts, Name};

use super::super::{Disturbance, SimCluster, SimInput, machine};
use super::support::*;

/// What is booked on nodes and classes is what pods and volumes take.
pub(super) fn check_books(cluster: &SimCluster) {
    let mut used: BTreeMap<Name, Amounts> = BTreeMap::new();
    let mut volumes: BTreeMap<Name, i64> = BTreeMap::new();
    for lease in cluster.leases.values() {
        for pod in lease.pods.values() {
            if let Some(node) = &pod.node {
                let sum = used.entry(node.clone()).or_default();
                *sum = machine::plus(*sum, pod.template.need.asks, 1);
            }
        }
        for (_, (class, bytes)) in &lease.volumes {
            *volumes.entry(class.clone()).or_default() += bytes;
        }
    }
    for (name, machine) in &cluster.machines {
        assert_eq!(machine.used, used.get(name).copied().unwrap_or_default(), "{name}");
        let free = machine.free();
        assert!(free.cpu_milli >= 0 && free.memory >= 0, "{name} is overbooked: {free:?}");
    }
    for (name, class) in &cluster.classes {
        assert_eq!(class.used, volumes.get(name).copied().unwrap_or_default(), "{name}");
    }
}

#[derive(Clone, Debug)]
enum Act {
    Deploy(u64, u32, &'static str),
    Hold(u64),
    Teardown(u64),
    Pass(u64),
    Lose(usize),
    Back(usize),
    Kill(u32),
    Api(bool),
}

fn act() -> impl Strategy<Value = Act> {
    let image = prop::sample::select(vec![
        "nginx",
        "nginx:2",
        "web:crash",
        "web:missing",
        "web:slow",
        "web:flaky",
        "web:stuck",
    ]);
    prop_oneof![
        4 => (1..6_u64, 1..4_u32, image).prop_map(|(d, n, i)| Act::Deploy(d, n, i)),
        1 => (1..6_u64).prop_map(Act::Hold),
        2 => (1..6_u64).prop_map(Act::Teardown),
        4 => (1..200_u64).prop_map(Act::Pass),
        1 => (1..3_usize).prop_map(Act::Lose),
        1 => (1..3_usize).prop_map(Act::Back),
        1 => (0..1000_u32).prop_map(Act::Kill),
        1 => any::<bool>().prop_map(Act::Api),
    ]
}

fn play(bench: &mut Bench, act: &Act) {
    let node = |number: &usize| Name::from(format!("node-{number}"));
    match act {
        Act::Deploy(dseq, count, image) => {
            let workload = workload(*dseq, vec![service("web", image, *count)]);
            let _ = bench.run(Operation::Deploy(workload));
        }
        Act::Hold(dseq) => {
            let _ = bench.run(Operation::Hold(workload(*dseq, vec![service("web", "held", 1)])));
        }
        Act::Teardown(dseq) => drop(bench.run(teardown(*dseq))),
        Act::Pass(seconds) => bench.pass(*seconds),
        Act::Lose(number) => bench.give(SimInput::Disturb(Disturbance::NodeLost(node(number)))),
        Act::Back(number) => bench.give(SimInput::Disturb(Disturbance::NodeBack(node(number)))),
        Act::Kill(per_mille) => {
            let disturbance = Disturbance::KillContainers { per_mille: *per_mille };
            bench.give(SimInput::Disturb(disturbance));
        }
        Act::Api(true) => bench.give(SimInput::Disturb(Disturbance::ApiUp)),
        Act::Api(false) => bench.give(SimInput::Disturb(Disturbance::ApiDown(None))),
    }
}

proptest! {
    #[test]
    fn whatever_happens_the_books_are_right_and_watchers_see_what_is(
        acts in prop::collection::vec(act(), 0..60),
        seed: u64,
    ) {
        let (mut one, mut other) = (Bench::seeded(SMALL, seed), Bench::seeded(SMALL, seed));
        for act in &acts {
            play(&mut one, act);
            play(&mut other, act);
            check_books(&one.cluster);
            if !one.lost {
                prop_assert_eq!(&one.seen, &one.cluster.view());
            }
            prop_assert_eq!(&one.seen, &other.seen);
        }
        // In the end everything can be ended, and nothing is left.
        play(&mut one, &Act::Api(true));
        for dseq in 1..6 {
            let _ = one.run(teardown(dseq));
        }
        one.pass(10_000);
        prop_assert_eq!(one.seen.leases.len(), 0);
        prop_assert_eq!(one.cluster.next_due(), None);
        for machine in one.cluster.machines.values() {
            prop_assert_eq!(machine.used, Amounts::default());
            prop_assert!(machine.used_cards.is_empty());
        }
    }
}
