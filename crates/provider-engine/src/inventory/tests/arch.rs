//! Units find nodes of their architecture only.

use akash_types::{Attribute, CpuArch, ResourceUnit};

use super::build::{choice, cluster, gpu_node, group, need, node, unit, with_gpu};
use crate::cluster::view::{ClusterView, Node, NodeArch};
use crate::inventory::{CommitLevels, Free, GroupNeed, NoRoom, Scarce, Unplaceable, place};

fn arm(node: Node) -> Node {
    Node { arch: NodeArch::Known(CpuArch::Arm64), ..node }
}

fn wants(mut unit: ResourceUnit, arch: &str) -> ResourceUnit {
    unit.resources.cpu.attributes = vec![Attribute::new("arch", arch)];
    unit
}

fn scarce(view: &ClusterView, unit: ResourceUnit) -> Option<Scarce> {
    let free = Free::compute(view, []);
    match place(&free, &need(vec![unit])) {
        Ok(_) => None,
        Err(NoRoom::Unit(short)) => Some(short.scarce),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn an_order_without_an_architecture_is_for_amd64() {
    let amd = cluster(&[("a", node(8, 8, 8))]);
    let arm = cluster(&[("a", arm(node(8, 8, 8)))]);
    let asks = || unit(1, 1, 1000, 1);
    assert_eq!(scarce(&amd, asks()), None);
    assert_eq!(scarce(&amd, wants(asks(), "amd64")), None);
    assert_eq!(scarce(&amd, wants(asks(), "arm64")), Some(Scarce::Arch(CpuArch::Arm64)));
    assert_eq!(scarce(&arm, asks()), Some(Scarce::Arch(CpuArch::Amd64)));
    assert_eq!(scarce(&arm, wants(asks(), "arm64")), None);
}

#[test]
fn a_node_of_another_architecture_serves_no_order() {
    let other = Node { arch: NodeArch::reported(Some("riscv64")), ..node(8, 8, 8) };
    let view = cluster(&[("a", other)]);
    for arch in ["amd64", "arm64"] {
        let found = scarce(&view, wants(unit(1, 1, 1000, 1), arch));
        assert_eq!(found, Some(Scarce::Arch(arch.parse().unwrap())));
    }
}

#[test]
fn a_node_that_reports_none_serves_orders_that_name_none() {
    let silent = Node { arch: NodeArch::reported(None), ..node(8, 8, 8) };
    let view = cluster(&[("a", silent)]);
    assert_eq!(scarce(&view, unit(1, 1, 1000, 1)), None);
    for arch in ["amd64", "arm64"] {
        let found = scarce(&view, wants(unit(1, 1, 1000, 1), arch));
        assert_eq!(found, Some(Scarce::Arch(arch.parse().unwrap())));
    }
}

#[test]
fn only_room_on_nodes_of_the_architecture_counts() {
    let view = cluster(&[("amd", node(64, 64, 64)), ("arm", arm(node(2, 64, 64)))]);
    let three = wants(unit(1, 3, 1000, 1), "arm64");
    let free = Free::compute(&view, []);
    let Err(NoRoom::Unit(short)) = place(&free, &need(vec![three])) else { panic!() };
    assert_eq!((short.fitted, short.scarce.clone(), short.largest), (2, Scarce::Cpu, 0));
    let two = wants(unit(1, 2, 1000, 1), "arm64");
    let booking = place(&free, &need(vec![two, unit(2, 1, 1000, 1)])).unwrap();
    let on = |at: usize| booking.units[at].plan.iter().map(|(node, _)| &**node).collect::<Vec<_>>();
    assert_eq!((on(0), on(1)), (vec!["arm"], vec!["amd"]));
}

#[test]
fn cards_on_nodes_of_another_architecture_do_not_count() {
    let view =
        cluster(&[("amd", gpu_node(&[("a100", 4)])), ("arm", arm(gpu_node(&[("gh200", 1)])))]);
    let with_card =
        |arch| with_gpu(wants(unit(1, 1, 1000, 1), arch), 1, &["vendor/nvidia/model/*"]);
    let free = Free::compute(&view, []);
    for (arch, card) in [("amd64", "a100"), ("arm64", "gh200")] {
        let booking = place(&free, &need(vec![with_card(arch)])).unwrap();
        assert_eq!(booking.units[0].card, Some(choice(card)), "{arch}");
    }
    let only_amd = cluster(&[("amd", gpu_node(&[("a100", 4)]))]);
    assert_eq!(scarce(&only_amd, with_card("arm64")), Some(Scarce::Arch(CpuArch::Arm64)));
}

#[test]
fn an_unknown_architecture_is_placed_nowhere() {
    let group = group(vec![wants(unit(1, 1, 1000, 1), "mips")]);
    let error = GroupNeed::of(&group, &CommitLevels::default()).unwrap_err();
    assert!(matches!(error, Unplaceable::Arch { unit: 1, .. }));
    assert_eq!(error.to_string(), "resource unit 1: unsupported cpu architecture \"mips\"");
}
