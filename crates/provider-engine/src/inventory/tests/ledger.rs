//! What is left equals a recount, whatever came in which order.

use std::collections::BTreeMap;

use akash_types::{EndpointKind, ResourceUnit};
use proptest::prelude::*;
use proptest::sample::Index;

use super::build::{
    GI, choice, cluster, gpu_node, lease, need, node, pod, unit, with_endpoint, with_gpu,
    with_volume,
};
use crate::cluster::view::{
    Amounts, ClusterView, Condition, IpPool, LeaseView, Name, Node, PortPool, StorageClass,
};
use crate::inventory::{Booking, Free, place};

fn left(free: &Free, name: &str) -> Amounts {
    free.nodes().find(|node| **node.name == *name).unwrap().free
}

/// Cores that are left on `a` and on `b`.
fn cores(view: &ClusterView, booking: &Booking, seen: Option<&LeaseView>) -> (i64, i64) {
    let free = Free::compute(view, [(booking, seen)]);
    (left(&free, "a").cpu_milli / 1000, left(&free, "b").cpu_milli / 1000)
}

#[test]
fn each_replica_counts_once_wherever_it_is() {
    let mut view = cluster(&[("a", node(10, 64, 100)), ("b", node(20, 64, 100))]);
    view.nodes.get_mut("b").unwrap().others.cpu_milli = 1000;
    let units = [unit(1, 3, 2000, 1)];
    let booking = place(&Free::compute(&view, []), &need(units.to_vec())).unwrap();
    assert_eq!(booking.units[0].plan[..], [("a".into(), 3)]);
    let asks = booking.units[0].need.asks;
    let at = |node| pod(1, Some(node), asks);
    let nowhere = || pod(1, None, asks);
    let half = |node| pod(1, Some(node), Amounts { cpu_milli: 1000, ..asks });
    let ending = |node| {
        let mut pod = at(node);
        pod.condition = Condition::Ending;
        pod
    };
    for (what, replicas, expected) in [
        ("nothing runs yet", vec![], (4, 19)),
        ("all as planned", vec![at("a"), at("a"), at("a")], (4, 19)),
        ("one as planned", vec![at("a")], (4, 19)),
        ("one elsewhere", vec![at("b")], (6, 17)),
        ("all elsewhere", vec![at("b"), at("b"), at("b")], (10, 13)),
        ("none has a node", vec![nowhere(), nowhere(), nowhere()], (4, 19)),
        ("one elsewhere, two without a node", vec![at("b"), nowhere(), nowhere()], (6, 17)),
        ("pods ask for less than planned", vec![half("a"), half("a"), half("a")], (7, 19)),
        ("one ends, two run", vec![ending("a"), at("b"), at("a")], (6, 17)),
        ("four, of which one ends", vec![ending("a"), at("b"), at("a"), at("a")], (4, 17)),
        ("on a node that is gone", vec![at("z")], (4, 19)),
    ] {
        let mut seen = lease(1, &units);
        seen.replicas = replicas;
        assert_eq!(cores(&view, &booking, Some(&seen)), expected, "{what}");
        // Without the manifest the only unit is meant.
        seen.held = None;
        assert_eq!(cores(&view, &booking, Some(&seen)), expected, "{what}, no manifest");
    }
}

#[test]
fn pods_belong_to_the_unit_of_their_service() {
    let view = cluster(&[("a", node(10, 64, 100)), ("b", node(10, 64, 100))]);
    let units = [unit(1, 1, 1000, 1), unit(2, 1, 1000, 1)];
    let booking = place(&Free::compute(&view, []), &need(units.to_vec())).unwrap();
    assert_eq!(cores(&view, &booking, None), (8, 10));
    let mut seen = lease(1, &units);
    seen.replicas = vec![pod(2, Some("b"), booking.units[1].need.asks)];
    assert_eq!(cores(&view, &booking, Some(&seen)), (9, 9));
}

#[test]
fn leases_that_nobody_booked_count_as_they_are_seen() {
    let ram = [("class", "ram"), ("persistent", "false")];
    let unit = with_endpoint(unit(1, 2, 1000, 1), EndpointKind::RandomPort, 0);
    let unit = with_volume(unit, 3, &ram);
    let mut view = cluster(&[("a", node(10, 64, 100))]);
    view.storage.insert(
        "beta2".into(),
        StorageClass { allocatable: 100, others: 10, ..StorageClass::default() },
    );
    view.ips = Some(IpPool { total: 4, others: 1 });
    view.ports = Some(PortPool { total: 12, others: 2 });
    let mut seen = lease(1, &[unit]);
    seen.replicas = vec![
        pod(1, Some("a"), Amounts { cpu_milli: 500, memory: GI, ephemeral: 0, gpu: 0 }),
        pod(1, None, Amounts { cpu_milli: 500, ..Amounts::default() }),
    ];
    seen.volumes.insert("beta2".into(), 20);
    seen.ips = 2;
    view.leases.insert(seen.id, seen);
    let free = Free::compute(&view, []);
    assert_eq!(left(&free, "a").cpu_milli, 9500);
    assert_eq!(left(&free, "a").memory, 60 * GI);
    assert_eq!(free.storage().collect::<Vec<_>>(), [(&"beta2".into(), 70)]);
    assert_eq!((free.ips(), free.ports()), (Some(1), Some(9)));
}

#[test]
fn memory_behind_mounts_counts_before_and_after_the_pod_is_there() {
    let view = cluster(&[("a", node(10, 64, 100))]);
    let ram = [("class", "ram"), ("persistent", "false")];
    let units = [with_volume(unit(1, 1, 1000, 4), 3, &ram)];
    let booking = place(&Free::compute(&view, []), &need(units.to_vec())).unwrap();
    let mut seen = lease(1, &units);
    seen.replicas = vec![pod(1, Some("a"), booking.units[0].need.asks)];
    assert_eq!(seen.replicas[0].asks.memory, 4 * GI);
    for seen in [None, Some(&seen)] {
        assert_eq!(left(&Free::compute(&view, [(&booking, seen)]), "a").memory, 57 * GI);
    }
}

#[test]
fn volumes_and_addresses_count_as_planned_until_they_are_there() {
    let mut view = cluster(&[("a", node(10, 64, 100))]);
    view.nodes.get_mut("a").unwrap().storage_classes.push("beta2".into());
    view.storage.insert(
        "beta2".into(),
        StorageClass { allocatable: 100 * GI, others: 0, ..StorageClass::default() },
    );
    view.ips = Some(IpPool { total: 4, others: 0 });
    let units = [with_endpoint(
        with_volume(unit(1, 2, 1000, 1), 20, &[("class", "beta2"), ("persistent", "true")]),
        EndpointKind::LeasedIp,
        1,
    )];
    let booking = place(&Free::compute(&view, []), &need(units.to_vec())).unwrap();
    for (volumes, ips, expected) in
        [(0, 0, (60, 3)), (20, 1, (60, 3)), (40, 1, (60, 3)), (50, 2, (50, 2))]
    {
        let mut seen = lease(1, &units);
        seen.volumes.insert("beta2".into(), volumes * GI);
        seen.ips = ips;
        let free = Free::compute(&view, [(&booking, Some(&seen))]);
        let storage = free.storage().next().unwrap().1 / GI;
        assert_eq!((storage, free.ips().unwrap()), expected, "{volumes} GiB, {ips} addresses");
    }
}

#[test]
fn what_is_overdrawn_shows_below_zero() {
    let mut view = cluster(&[("a", node(4, 8, 10))]);
    view.nodes.get_mut("a").unwrap().others.cpu_milli = 5000;
    view.ips = Some(IpPool { total: 1, others: 3 });
    let free = Free::compute(&view, []);
    assert_eq!((left(&free, "a").cpu_milli, free.ips()), (-1000, Some(-2)));
    assert!(place(&free, &need(vec![unit(1, 1, 10, 1)])).is_err());
    view.nodes.get_mut("a").unwrap().others.cpu_milli = i64::MAX;
    view.nodes.get_mut("a").unwrap().allocatable.cpu_milli = -5;
    assert_eq!(left(&Free::compute(&view, []), "a").cpu_milli, i64::MIN);
}

#[test]
fn ten_thousand_refusals_leave_everything_as_it_was() {
    let view = cluster(&[("a", node(4, 8, 10)), ("b", gpu_node(&[("t4", 2)]))]);
    let before = Free::compute(&view, []);
    let large = need(vec![unit(1, 2, 1000, 1), with_gpu(unit(2, 3, 100, 1), 1, &[])]);
    for _ in 0..10_000 {
        assert!(place(&before, &large).is_err());
    }
    // A sale whose owner is gone is no sale.
    drop(place(&before, &need(vec![unit(1, 2, 1000, 1)])).unwrap());
    assert_eq!(Free::compute(&view, []), before);
}

/// The same, counted pod by pod and slot by slot.
fn recount(view: &ClusterView, leases: &[(Booking, LeaseView)]) -> BTreeMap<Name, Amounts> {
    let mut left: BTreeMap<Name, Amounts> = BTreeMap::new();
    let less = |from: &mut Amounts, each: &Amounts| {
        from.cpu_milli -= each.cpu_milli;
        from.memory -= each.memory;
        from.ephemeral -= each.ephemeral;
        from.gpu -= each.gpu;
    };
    for (name, node) in &view.nodes {
        let mut free = node.allocatable;
        less(&mut free, &node.others);
        left.insert(name.clone(), free);
    }
    for (booking, seen) in leases {
        for unit in &booking.units {
            let mut slots: Vec<Name> = Vec::new();
            for (node, count) in &unit.plan {
                slots.extend(std::iter::repeat_n(node.clone(), *count as usize));
            }
            let mut moved = 0;
            for pod in &seen.replicas {
                let Some(node) = &pod.node else { continue };
                if pod.service != format!("svc-{}", unit.id) {
                    continue;
                }
                less(left.get_mut(node).unwrap(), &pod.asks);
                match slots.iter().position(|slot| slot == node) {
                    Some(at) => drop(slots.remove(at)),
                    None => moved += 1,
                }
            }
            slots.truncate(slots.len().saturating_sub(moved));
            for slot in slots {
                less(left.get_mut(&slot).unwrap(), &unit.need.asks);
            }
        }
    }
    left
}

fn any_cluster() -> impl Strategy<Value = ClusterView> {
    let plain = (1_i64..16, 1_i64..64, 10_i64..100).prop_map(|(a, b, c)| node(a, b, c));
    let mixed =
        (1_usize..4, 0_usize..4).prop_map(|(a, b)| gpu_node(&[("a100/80", a), ("t4/16", b)]));
    let any = prop_oneof![3 => plain, 1 => mixed];
    proptest::collection::vec(any, 1..6).prop_map(|nodes: Vec<Node>| {
        let mut view = ClusterView::default();
        for (index, mut node) in nodes.into_iter().enumerate() {
            node.storage_classes.push("beta2".into());
            view.nodes.insert(format!("node-{index}").into(), node);
        }
        view.storage.insert(
            "beta2".into(),
            StorageClass { allocatable: 200 * GI, others: 0, ..StorageClass::default() },
        );
        view.ips = Some(IpPool { total: 5, others: 1 });
        view.ports = Some(PortPool { total: 6, others: 1 });
        view
    })
}

fn any_unit(id: u32) -> impl Strategy<Value = ResourceUnit> {
    let keys = prop_oneof![
        Just("vendor/nvidia/model/*"),
        Just("vendor/nvidia/model/a100"),
        Just("vendor/nvidia/model/t4/ram/16Gi"),
    ];
    (1_u32..5, 10_u64..4000, 1_u64..12, 0_u64..3, keys, 0_u8..6).prop_map(
        move |(count, cpu, memory, gpu, key, extra)| {
            let unit = with_volume(unit(id, count, cpu, memory), 1, &[]);
            let unit = if gpu > 1 { with_gpu(unit, gpu - 1, &[key]) } else { unit };
            match extra {
                0 => with_volume(unit, 7, &[("class", "beta2"), ("persistent", "true")]),
                1 => with_endpoint(unit, EndpointKind::LeasedIp, 1),
                2 => with_endpoint(unit, EndpointKind::RandomPort, 0),
                _ => unit,
            }
        },
    )
}

fn any_group() -> impl Strategy<Value = Vec<ResourceUnit>> {
    (any_unit(1), any_unit(2), 1_usize..3)
        .prop_map(|(a, b, count)| vec![a, b].into_iter().take(count).collect())
}

proptest! {
    #[test]
    fn what_is_left_equals_a_recount_whatever_runs(
        view in any_cluster(),
        groups in proptest::collection::vec(any_group(), 0..6),
        pods in proptest::collection::vec((any::<Index>(), 1_u32..3, any::<Option<Index>>(), any::<bool>()), 0..24),
        shuffle in any::<Index>(),
    ) {
        let mut free = Free::compute(&view, []);
        let mut leases = Vec::new();
        for (number, group) in (1..).zip(&groups) {
            if let Ok(booking) = place(&free, &need(group.clone())) {
                free = free.without(&booking);
                leases.push((booking, lease(number, group)));
            }
        }
        let names: Vec<_> = view.nodes.keys().cloned().collect();
        for (of, unit, node, ends) in pods {
            if leases.is_empty() {
                continue;
            }
            let at = of.index(leases.len());
            let (booking, seen) = &mut leases[at];
            let Some(unit) = booking.unit(unit) else { continue };
            let node = node.map(|node| &*names[node.index(names.len())]);
            let mut pod = pod(unit.id, node, unit.need.asks);
            pod.card = unit.card.clone();
            pod.condition = if ends { Condition::Ending } else { Condition::Starting };
            seen.replicas.push(pod);
        }
        let compute = |leases: &[(Booking, LeaseView)]| {
            Free::compute(&view, leases.iter().map(|(booking, seen)| (booking, Some(seen))))
        };
        let free = compute(&leases);
        let counted: BTreeMap<_, _> = free.nodes().map(|node| (node.name.clone(), node.free)).collect();
        prop_assert_eq!(counted, recount(&view, &leases));

        // In any order.
        let mut turned = leases.clone();
        if !turned.is_empty() {
            let by = shuffle.index(turned.len());
            turned.rotate_left(by);
        }
        for (_, seen) in &mut turned {
            seen.replicas.reverse();
        }
        prop_assert_eq!(compute(&turned), free);
    }

    #[test]
    fn booking_one_more_equals_computing_with_it(
        view in any_cluster(),
        groups in proptest::collection::vec(any_group(), 1..8),
    ) {
        let mut bookings = Vec::new();
        let mut free = Free::compute(&view, []);
        for group in groups {
            let Ok(booking) = place(&free, &need(group)) else { continue };
            free = free.without(&booking);
            bookings.push(booking);
            let computed = Free::compute(&view, bookings.iter().map(|booking| (booking, None)));
            prop_assert_eq!(&computed, &free);
            // And nothing is sold that is not there.
            for node in free.nodes() {
                let Amounts { cpu_milli, memory, ephemeral, gpu } = node.free;
                prop_assert!(cpu_milli >= 0 && memory >= 0 && ephemeral >= 0 && gpu >= 0);
                for model in ["a100", "a100/80", "t4", "t4/16"] {
                    prop_assert!(free.cards(node.name, &choice(model)) >= 0);
                }
            }
            prop_assert!(free.storage().all(|(_, bytes)| bytes >= 0));
            prop_assert!(free.ips().unwrap() >= 0 && free.ports().unwrap() >= 0);
        }
    }
}
