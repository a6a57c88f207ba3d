//! What fits where, and what is said when it does not.

use akash_types::EndpointKind;

use super::build::{
    GI, cluster, gpu_node, group, lease, need, node, unit, with_endpoint, with_gpu, with_volume,
};
use crate::cluster::view::{
    Amounts, ClusterView, Exclusion, IpPool, PortPool, SharedDisks, StorageClass, StoragePlace,
};
use crate::inventory::{
    Booking, CommitLevels, Free, GroupNeed, NoRoom, Scarce, Shortage, Unplaceable, place,
};

fn free(view: &ClusterView) -> Free {
    Free::compute(view, [])
}

fn plan(booking: &Booking) -> Vec<(&str, u32)> {
    let plan = booking.units.iter().flat_map(|unit| unit.plan.iter());
    plan.map(|(node, count)| (&**node, *count)).collect()
}

fn shortage(view: &ClusterView, need: &GroupNeed) -> (u32, u32, Scarce, i64, i64) {
    match place(&free(view), need) {
        Err(NoRoom::Unit(short)) => {
            let Shortage { wanted, fitted, scarce, need, largest, .. } = *short;
            (wanted, fitted, scarce, need, largest)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_need_is_what_the_pod_will_ask_for() {
    let ordered = with_volume(unit(1, 2, 1000, 4), 10, &[]);
    let ordered = with_volume(ordered, 6, &[("class", "ram"), ("persistent", "false")]);
    let ordered = with_volume(ordered, 20, &[("class", "beta2"), ("persistent", "true")]);
    let ordered = with_volume(ordered, 5, &[("class", "beta2"), ("persistent", "true")]);
    let levels = CommitLevels::from_percent(100, 50, 25);
    let need = GroupNeed::of(&group(vec![with_gpu(ordered, 2, &[])]), &levels).unwrap();
    let need = &need.units[0].need;
    // CPU ÷ 2, memory ÷ 1.5, storage ÷ 1.25; cards and persistent volumes in full.
    let memory = (4 * GI * 2 + 1) / 3;
    assert_eq!(need.asks, Amounts { cpu_milli: 500, memory, ephemeral: 8 * GI, gpu: 2 });
    assert_eq!(need.ram, 4 * GI);
    assert_eq!(need.on_node(&[]).memory, memory + 4 * GI);
    assert_eq!(*need.volumes, [("beta2".into(), 25 * GI)]);
}

#[test]
fn endpoints_become_addresses_and_ports() {
    let a = with_endpoint(unit(1, 3, 100, 1), EndpointKind::LeasedIp, 1);
    let a = with_endpoint(a, EndpointKind::LeasedIp, 2);
    let a = with_endpoint(a, EndpointKind::RandomPort, 0);
    let b = with_endpoint(unit(2, 1, 100, 1), EndpointKind::LeasedIp, 1);
    let b = with_endpoint(b, EndpointKind::SharedHttp, 0);
    let b = with_endpoint(b, EndpointKind::RandomPort, 0);
    let need = need(vec![a, b]);
    assert_eq!((need.ips, need.ports), (2, 2));
}

#[test]
fn what_no_cluster_can_have_is_said_at_once() {
    let levels = CommitLevels::default();
    for (class, persistent) in [("ram", "true"), ("", "true")] {
        let unit = with_volume(unit(7, 1, 100, 1), 1, &[]);
        let unit = with_volume(unit, 1, &[("class", class), ("persistent", persistent)]);
        let error = GroupNeed::of(&group(vec![unit]), &levels).unwrap_err();
        assert_eq!(error, Unplaceable::VolumeClass { unit: 7, volume: 1 });
    }
    let card = with_gpu(unit(3, 1, 100, 1), 1, &["vendor/intel/model/*"]);
    let error = GroupNeed::of(&group(vec![card]), &levels).unwrap_err();
    assert!(matches!(error, Unplaceable::Card { unit: 3, .. }), "{error}");
    assert!(error.to_string().contains("vendor must be nvidia or amd"), "{error}");
    // What is not asked for need not make sense.
    let none = with_gpu(unit(3, 1, 100, 1), 0, &["vendor/intel/model/*"]);
    assert!(GroupNeed::of(&group(vec![none]), &levels).is_ok());
}

#[test]
fn replicas_go_to_the_tightest_node_that_holds_them() {
    let view =
        cluster(&[("a", node(16, 64, 100)), ("b", node(4, 8, 100)), ("c", node(8, 32, 100))]);
    for (count, cpu, memory, expected) in [
        (1, 1000, 1, vec![("b", 1)]),
        (1, 1000, 9, vec![("c", 1)]),
        (1, 9000, 1, vec![("a", 1)]),
        (4, 1000, 8, vec![("b", 1), ("c", 3)]),
        (28, 1000, 1, vec![("b", 4), ("c", 8), ("a", 16)]),
    ] {
        let booking = place(&free(&view), &need(vec![unit(1, count, cpu, memory)])).unwrap();
        assert_eq!(plan(&booking), expected, "{count} × {cpu} m, {memory} GiB");
    }
}

#[test]
fn work_without_cards_goes_to_nodes_with_cards_last() {
    let mut tight = gpu_node(&[("t4", 1)]);
    tight.allocatable = Amounts { gpu: 1, ..node(1, 1, 10).allocatable };
    let view = cluster(&[("a-gpu", tight), ("b", node(64, 256, 1000))]);
    let booking = place(&free(&view), &need(vec![unit(1, 1, 1000, 1)])).unwrap();
    assert_eq!(plan(&booking), [("b", 1)]);
    let booking = place(&free(&view), &need(vec![unit(1, 65, 1000, 1)])).unwrap();
    assert_eq!(plan(&booking), [("b", 64), ("a-gpu", 1)]);
}

#[test]
fn all_replicas_or_none() {
    let view = cluster(&[("a", node(4, 64, 100)), ("b", node(4, 64, 100))]);
    assert!(place(&free(&view), &need(vec![unit(1, 2, 3000, 1)])).is_ok());
    let short = shortage(&view, &need(vec![unit(1, 3, 3000, 1)]));
    assert_eq!(short, (3, 2, Scarce::Cpu, 3000, 1000));
    // The second unit must find what the first left.
    let two = vec![unit(1, 1, 3000, 1), unit(2, 3, 2000, 1)];
    let short = shortage(&view, &need(two));
    assert_eq!(short, (3, 2, Scarce::Cpu, 2000, 1000));
}

#[test]
fn nodes_that_take_no_pods_are_not_used() {
    let mut cordoned = node(64, 64, 100);
    cordoned.exclusions.push(Exclusion::Cordoned);
    let view = cluster(&[("a", cordoned), ("b", node(2, 64, 100))]);
    let booking = place(&free(&view), &need(vec![unit(1, 1, 1000, 1)])).unwrap();
    assert_eq!(plan(&booking), [("b", 1)]);
    let short = shortage(&view, &need(vec![unit(1, 3, 1000, 1)]));
    assert_eq!(short, (3, 2, Scarce::Cpu, 1000, 0));
    let short = shortage(&ClusterView::default(), &need(vec![unit(1, 3, 1000, 1)]));
    assert_eq!(short, (3, 0, Scarce::Nodes, 0, 0));
}

#[test]
fn the_scarce_resource_is_named() {
    let volume = [("class", "beta2"), ("persistent", "true")];
    let mut view = cluster(&[("a", node(8, 16, 50)), ("b", gpu_node(&[("t4", 2)]))]);
    view.storage.insert("beta2".into(), shared(100, 0));
    view.nodes.get_mut("a").unwrap().storage_classes.push("beta2".into());
    let t4 = ["vendor/nvidia/model/t4"];
    for (unit, expected) in [
        (unit(1, 1, 65_000, 1), (1, 0, Scarce::Cpu, 65_000, 64_000)),
        (unit(1, 2, 1000, 250), (2, 1, Scarce::Memory, 250 * GI, 16 * GI)),
        (
            with_volume(unit(1, 1, 100, 1), 1001, &[]),
            (1, 0, Scarce::Ephemeral, 1001 * GI, 1000 * GI),
        ),
        // Memory behind a mount is memory.
        (
            with_volume(unit(1, 1, 100, 1), 256, &[("class", "ram"), ("persistent", "false")]),
            (1, 0, Scarce::Memory, 257 * GI, 256 * GI),
        ),
        (with_gpu(unit(1, 3, 100, 1), 1, &t4), (3, 2, Scarce::Cards, 1, 0)),
        (
            with_gpu(unit(1, 1, 100, 1), 1, &["vendor/nvidia/model/a100"]),
            (1, 0, Scarce::Cards, 1, 0),
        ),
        (
            with_volume(unit(1, 3, 100, 1), 40, &volume),
            (3, 2, Scarce::Storage("beta2".into()), 40 * GI, 20 * GI),
        ),
        (
            with_volume(unit(1, 1, 100, 1), 1, &[("class", "beta3"), ("persistent", "true")]),
            (1, 0, Scarce::Storage("beta3".into()), GI, 0),
        ),
    ] {
        assert_eq!(shortage(&view, &need(vec![unit])), expected);
    }
    // A class that no node has cannot be used, whatever room it has.
    view.nodes.get_mut("a").unwrap().storage_classes.clear();
    let short = shortage(&view, &need(vec![with_volume(unit(1, 1, 100, 1), 40, &volume)]));
    assert_eq!(short, (1, 0, Scarce::Storage("beta2".into()), 40 * GI, 0));
}

#[test]
fn a_shortage_reads_well() {
    let view = cluster(&[("a", node(4, 64, 100))]);
    let error = place(&free(&view), &need(vec![unit(1, 3, 3000, 1)])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "resource unit 1: 1 of 3 replicas fit; short of CPU (milli): each needs 3000, the node with most has 1000 left"
    );
}

/// A class with GiB in all, of which others have some.
fn shared(allocatable: i64, others: i64) -> StorageClass {
    let (allocatable, others) = (allocatable * GI, others * GI);
    StorageClass { allocatable, others, ..StorageClass::default() }
}

#[test]
fn volumes_on_disks_of_nodes_take_from_their_node() {
    // Two nodes with 100 GiB of disk each, half of b's in use; 150 are free, but not in one place.
    let mut view = cluster(&[("a", node(8, 32, 100)), ("b", node(8, 32, 100))]);
    let on_disks = StoragePlace::NodeDisk;
    let class = StorageClass { allocatable: 200 * GI, place: on_disks, ..StorageClass::default() };
    view.storage.insert("local".into(), class);
    for node in view.nodes.values_mut() {
        node.storage_classes.push("local".into());
    }
    view.nodes.get_mut("b").unwrap().others.ephemeral = 50 * GI;
    let volume = [("class", "local"), ("persistent", "true")];
    let ask = |replicas, gib| need(vec![with_volume(unit(1, replicas, 100, 1), gib, &volume)]);
    let (wanted, fitted, scarce, _, largest) = shortage(&view, &ask(1, 120));
    assert_eq!((wanted, fitted, scarce, largest), (1, 0, Scarce::Ephemeral, 100 * GI));
    assert!(place(&free(&view), &ask(3, 40)).is_ok());
    // What is booked is not there for pods without volumes either, nor for the next volume.
    let booked = place(&free(&view), &ask(2, 50)).unwrap();
    let rest = free(&view).without(&booked);
    assert_eq!(rest.storage().next().unwrap().1, 50 * GI);
    let disk = [("class", "default"), ("persistent", "false")];
    let pod = |gib| need(vec![with_volume(unit(2, 1, 100, 1), gib, &disk)]);
    assert!(place(&rest, &pod(50)).is_ok());
    assert!(place(&rest, &pod(51)).is_err());
    // A pod that is there counts with its volume, booked or not.
    let mut seen = lease(1, &[with_volume(unit(1, 1, 100, 1), 70, &volume)]);
    seen.replicas.push(super::build::pod(1, Some("a"), Amounts::default()));
    view.leases.insert(seen.id, seen);
    assert_eq!(free(&view).storage().next().unwrap().1, 80 * GI);
}

#[test]
fn classes_on_the_same_disks_are_not_sold_twice() {
    // 90 GiB of disk: 30 in three copies, or 60 with one part in three for repair.
    let class = |allocatable: i64, raw, stored| StorageClass {
        allocatable: allocatable * GI,
        disks: Some(SharedDisks { group: "ceph".into(), raw, stored }),
        ..StorageClass::default()
    };
    let mut view = cluster(&[("a", node(8, 32, 100))]);
    view.storage.insert("copies".into(), class(30, 3, 1));
    view.storage.insert("coded".into(), class(60, 3, 2));
    view.storage.insert("other".into(), shared(7, 0));
    view.nodes.get_mut("a").unwrap().storage_classes =
        ["copies", "coded", "other"].map(Into::into).to_vec();
    let ask = |classes: &[(&str, u64)]| {
        let mut one = unit(1, 1, 100, 1);
        for (class, gib) in classes {
            one = with_volume(one, *gib, &[("class", class), ("persistent", "true")]);
        }
        need(vec![one])
    };
    let left = |free: &Free| free.storage().map(|(_, left)| left / GI).collect::<Vec<_>>();
    assert_eq!(left(&free(&view)), [60, 30, 7]);
    let booked = place(&free(&view), &ask(&[("coded", 20)])).unwrap();
    let rest = free(&view).without(&booked);
    assert_eq!(left(&rest), [40, 20, 7]);
    // One replica with a volume of each class.
    assert!(place(&rest, &ask(&[("coded", 20), ("copies", 10)])).is_ok());
    assert!(place(&rest, &ask(&[("coded", 22), ("copies", 10)])).is_err());
    // What others have counts for both.
    view.storage.get_mut("copies").unwrap().others = 5 * GI;
    assert_eq!(left(&free(&view)), [50, 25, 7]);
    // A class that is not sold has nothing, and takes nothing.
    view.storage.get_mut("copies").unwrap().unsold = Some("because".into());
    assert_eq!(left(&free(&view)), [60, 7]);
    assert!(place(&free(&view), &ask(&[("copies", 1)])).is_err());
}

#[test]
fn persistent_volumes_need_their_class_on_the_node_and_room_in_it() {
    let mut view = cluster(&[("a", node(8, 16, 50)), ("b", node(64, 256, 50))]);
    view.storage.insert("beta2".into(), shared(100, 30));
    view.nodes.get_mut("b").unwrap().storage_classes.push("beta2".into());
    let volume = [("class", "beta2"), ("persistent", "true")];
    let two = need(vec![with_volume(unit(1, 2, 100, 1), 30, &volume)]);
    let booking = place(&free(&view), &two).unwrap();
    assert_eq!(plan(&booking), [("b", 2)]);
    let rest = free(&view).without(&booking);
    assert_eq!(rest.storage().next().unwrap().1, 10 * GI);
    assert!(place(&rest, &two).is_err());
}

#[test]
fn addresses_and_ports_are_counted() {
    let leased = |count: u32| {
        let ends = 1..=count;
        ends.fold(unit(1, 1, 100, 1), |unit, number| {
            with_endpoint(unit, EndpointKind::LeasedIp, number)
        })
    };
    let mut view = cluster(&[("a", node(8, 16, 50))]);
    let none = place(&free(&view), &need(vec![leased(1)]));
    assert_eq!(none, Err(NoRoom::NoIpPool { wanted: 1 }));
    view.ips = Some(IpPool { total: 5, others: 2 });
    let three = place(&free(&view), &need(vec![leased(3)])).unwrap();
    assert_eq!(free(&view).without(&three).ips(), Some(0));
    let four = place(&free(&view), &need(vec![leased(4)]));
    assert_eq!(four, Err(NoRoom::Ips { wanted: 4, free: 3 }));

    let port = need(vec![with_endpoint(unit(1, 1, 100, 1), EndpointKind::RandomPort, 0)]);
    assert!(place(&free(&view), &port).is_ok());
    view.ports = Some(PortPool { total: 3, others: 2 });
    let booking = place(&free(&view), &port).unwrap();
    let rest = free(&view).without(&booking);
    assert_eq!(place(&rest, &port), Err(NoRoom::Ports { wanted: 1, free: 0 }));
    // Who asks for no port is not stopped by their lack.
    assert!(place(&rest, &need(vec![unit(1, 1, 100, 1)])).is_ok());
}

#[test]
fn what_the_go_order_can_place_is_placed() {
    // The tightest node is the only right one for the largest unit.
    let view = cluster(&[("a", node(6, 64, 100)), ("b", node(4, 64, 100))]);
    let units = vec![unit(1, 1, 4000, 1), unit(2, 1, 3000, 1), unit(3, 1, 3000, 1)];
    assert!(place(&free(&view), &need(units)).is_ok());
    // The larger pair, put on the tightest nodes, leaves no room for the other; by name both fit.
    let view = cluster(&[("a", node(10, 10, 100)), ("b", node(7, 20, 100))]);
    let units = vec![unit(1, 2, 3500, 4), unit(2, 2, 5000, 5)];
    assert!(place(&free(&view), &need(units)).is_ok());
}

#[test]
fn a_million_replicas_are_refused_quickly() {
    let view = cluster(&[("a", node(64, 256, 100))]);
    let short = shortage(&view, &need(vec![unit(1, 1_900_000, 10, 1)]));
    assert_eq!((short.0, short.1), (1_900_000, 256));
}
