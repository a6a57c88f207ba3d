//! For any interleaving of faults: consecutive heights, each once, and the head once faults stop.

use std::time::Duration;

use proptest::prelude::*;

use super::world::{Fault, World, config};
use crate::follow::ResyncReason;

/// What happens to whom, and how long it is until the next.
type Step = (usize, Option<Fault>, u64);

fn fault() -> impl Strategy<Value = Option<Fault>> {
    prop_oneof![
        3 => Just(None),
        1 => Just(Some(Fault::Silent)),
        1 => Just(Some(Fault::Errors)),
        1 => (1..80_u64).prop_map(|lag| Some(Fault::Lag(lag))),
        1 => Just(Some(Fault::CatchingUp)),
        1 => Just(Some(Fault::WrongChain)),
        1 => Just(Some(Fault::Closes)),
        1 => Just(Some(Fault::Deaf)),
    ]
}

/// Faults after which no height is ever lost, and those that lose some or change history. The
/// latter are kept apart: a node that forgot its past cannot be told from one with another past.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let forks = prop_oneof![5 => fault(), 1 => Just(Some(Fault::Fork))];
    let prunes = prop_oneof![
        5 => fault(),
        1 => (0..200_u64).prop_map(|keep| Some(Fault::Prune(keep))),
        1 => Just(Some(Fault::NoResults)),
    ];
    prop_oneof![
        proptest::collection::vec((0..3_usize, forks, 0..20_000_u64), 0..12),
        proptest::collection::vec((0..3_usize, prunes, 0..20_000_u64), 0..12),
    ]
}

fn check(nodes: usize, behind: u64, chaos: u64, seed: u64, steps: &[Step]) {
    let head = 1_000;
    let mut world = World::new(config(), nodes, head, head - behind, seed);
    // A branch is only another branch of something that was seen.
    world.run(Duration::from_secs(3));
    assert!(world.delivered > 0 || !world.resyncs.is_empty());
    world.chaos = chaos;
    for (node, fault, millis) in steps {
        match fault {
            Some(fault) => world.fault(node % nodes, *fault),
            None => world.nodes[node % nodes].faults.clear(),
        }
        world.run(Duration::from_millis(*millis));
    }
    world.heal();
    // A node that went back is used again once it is where it was: at most 80 blocks later.
    world.run(Duration::from_secs(150));
    assert!(world.cursor + 1 >= world.head, "{} of {}", world.cursor, world.head);
    assert!(world.status.subscribed && !world.status.stalled, "{:?}", world.status);
    for node in 0..nodes {
        assert_eq!(*world.health(node), crate::follow::Health::Usable, "node {node}");
    }
    let loses = |fault: &Fault| matches!(fault, Fault::Prune(_) | Fault::NoResults);
    if behind <= 500 && !steps.iter().any(|(_, fault, _)| fault.as_ref().is_some_and(loses)) {
        // Unless everybody had another past for long.
        let forked = steps.iter().any(|(_, fault, _)| matches!(fault, Some(Fault::Fork)));
        world.resyncs.retain(|resync| !forked || resync.reason != ResyncReason::OtherBranch);
        assert_eq!(world.resyncs, [], "nothing was lost, so nothing is left out");
    }
}

/// Many more with `--full`.
fn cases() -> u32 {
    if std::env::var_os("AKASH_TEST_FULL").is_some() { 2_000 } else { 100 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn heights_are_consecutive_and_the_head_is_reached_after_faults(
        nodes in 1..4_usize,
        behind in prop_oneof![0..40_u64, 100..400_u64, Just(700)],
        chaos in 0..60_u64,
        seed: u64,
        steps in steps(),
    ) {
        check(nodes, behind, chaos, seed, &steps);
    }
}
