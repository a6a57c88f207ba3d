//! The booking of a lease follows what became of it.

use proptest::prelude::*;

use super::build::{choice, cluster, gpu_node, lease, need, node, pod, unit, with_gpu};
use crate::cluster::view::{CardChoice, ClusterView, Exclusion, LeaseView};
use crate::inventory::{Booking, Free, GroupNeed, NoRoom, Replanned, place, replan};

fn again(
    view: &ClusterView,
    need: &GroupNeed,
    before: Option<&Booking>,
    seen: Option<&LeaseView>,
) -> Replanned {
    // Without the lease: it is not in the view's list.
    replan(&Free::compute(view, []), need, before, seen)
}

fn plan(replanned: &Replanned) -> Vec<(&str, u32)> {
    let plan = replanned.booking.units.iter().flat_map(|unit| unit.plan.iter());
    plan.map(|(node, count)| (&**node, *count)).collect()
}

#[test]
fn what_fits_stays() {
    let view = cluster(&[("a", node(4, 64, 100)), ("b", node(4, 64, 100))]);
    let need = need(vec![unit(1, 3, 2000, 1)]);
    let before = place(&Free::compute(&view, []), &need).unwrap();
    let after = again(&view, &need, Some(&before), None);
    assert_eq!(after, Replanned { booking: before, homeless: None });
}

#[test]
fn replicas_that_run_stay_where_they_are() {
    let view = cluster(&[("a", node(4, 64, 100)), ("b", node(4, 64, 100))]);
    let units = [unit(1, 3, 1000, 1)];
    let need = need(units.to_vec());
    let before = place(&Free::compute(&view, []), &need).unwrap();
    assert_eq!(before.units[0].plan[..], [("a".into(), 3)]);
    let mut seen = lease(1, &units);
    seen.replicas = vec![pod(1, Some("b"), before.units[0].need.asks)];
    assert_eq!(plan(&again(&view, &need, Some(&before), Some(&seen))), [("b", 1), ("a", 2)]);
    // Also where nothing would be put now.
    let mut full = view;
    full.nodes.get_mut("b").unwrap().others.cpu_milli = 4000;
    full.nodes.get_mut("b").unwrap().exclusions.push(Exclusion::Cordoned);
    assert_eq!(plan(&again(&full, &need, Some(&before), Some(&seen))), [("b", 1), ("a", 2)]);
}

#[test]
fn only_what_was_on_a_lost_node_moves() {
    let mut view =
        cluster(&[("a", node(2, 64, 100)), ("b", node(2, 64, 100)), ("c", node(8, 64, 100))]);
    let units = [unit(1, 4, 1000, 1)];
    let need = need(units.to_vec());
    let before = place(&Free::compute(&view, []), &need).unwrap();
    assert_eq!(before.units[0].plan[..], [("a".into(), 2), ("b".into(), 2)]);
    let mut seen = lease(1, &units);
    let asks = before.units[0].need.asks;
    seen.replicas = vec![pod(1, Some("a"), asks), pod(1, Some("b"), asks)];
    view.nodes.remove("a");
    let after = again(&view, &need, Some(&before), Some(&seen));
    assert_eq!(plan(&after), [("b", 2), ("c", 2)]);
    assert_eq!(after.homeless, None);
}

#[test]
fn a_lease_keeps_its_booking_when_there_is_no_room_left() {
    let mut view = cluster(&[("a", node(2, 64, 100)), ("b", node(2, 64, 100))]);
    let need = need(vec![unit(1, 4, 1000, 1)]);
    let before = place(&Free::compute(&view, []), &need).unwrap();
    view.nodes.remove("b");
    let after = again(&view, &need, Some(&before), None);
    assert_eq!(plan(&after), [("a", 2)]);
    assert_eq!((after.booking.units[0].count, after.booking.units[0].planned()), (4, 2));
    let Some(NoRoom::Unit(short)) = after.homeless else { panic!("{:?}", after.homeless) };
    assert_eq!((short.wanted, short.fitted), (4, 2));
}

#[test]
fn a_lease_found_in_the_cluster_is_booked_as_it_runs() {
    let view =
        cluster(&[("a", gpu_node(&[("a100/80", 2), ("t4/16", 2)])), ("b", node(8, 64, 100))]);
    let units = [with_gpu(unit(1, 1, 1000, 1), 1, &["vendor/nvidia/model/*"]), unit(2, 2, 1000, 1)];
    let need = need(units.to_vec());
    let promised = choice("a100");
    let held = |seen: &mut LeaseView, card: Option<CardChoice>| {
        let held = seen.held.as_mut().unwrap();
        held.cards = card.into_iter().map(|card| ("svc-1".to_owned(), card)).collect();
    };
    let mut seen = lease(1, &units);
    seen.replicas = vec![pod(2, Some("a"), need.units[1].need.asks)];
    held(&mut seen, Some(promised.clone()));
    let after = again(&view, &need, None, Some(&seen));
    assert_eq!(plan(&after), [("a", 1), ("a", 1), ("b", 1)]);
    assert_eq!(after.booking.units[0].card, Some(promised.clone()));
    // The pod says so where the manifest does not.
    held(&mut seen, None);
    let mut gpu = pod(1, Some("a"), need.units[0].need.asks);
    gpu.card = Some(promised.clone());
    seen.replicas.push(gpu);
    let after = again(&view, &need, None, Some(&seen));
    assert_eq!(after.booking.units[0].card, Some(promised));
    assert_eq!(plan(&after), [("a", 1), ("a", 1), ("b", 1)]);
    assert_eq!(after.homeless, None);
}

#[test]
fn promised_cards_are_not_exchanged() {
    let mut view = cluster(&[("a", gpu_node(&[("a100", 1)])), ("b", gpu_node(&[("t4", 1)]))]);
    let need = need(vec![with_gpu(unit(1, 1, 1000, 1), 1, &["vendor/nvidia/model/*"])]);
    let before = place(&Free::compute(&view, []), &need).unwrap();
    assert_eq!(before.units[0].card, Some(choice("a100")));
    view.nodes.remove("a");
    let after = again(&view, &need, Some(&before), None);
    assert_eq!(after.booking.units[0].card, Some(choice("a100")));
    assert!(after.homeless.is_some());
}

proptest! {
    #[test]
    fn replanning_twice_changes_nothing(
        cores in proptest::collection::vec(1_i64..8, 1..5),
        count in 1_u32..8, cpu in 100_u64..3000,
        pods in proptest::collection::vec(0_usize..5, 0..6),
        gone in 0_usize..5,
    ) {
        let names: Vec<_> = (0..cores.len()).map(|index| format!("n{index}")).collect();
        let nodes: Vec<_> =
            names.iter().zip(&cores).map(|(name, cores)| (name.as_str(), node(*cores, 64, 100))).collect();
        let mut view = cluster(&nodes);
        let units = [unit(1, count, cpu, 1)];
        let need = need(units.to_vec());
        let before = place(&Free::compute(&view, []), &need).ok();
        let mut seen = lease(1, &units);
        for pod_at in pods {
            let name = names.get(pod_at).map(String::as_str);
            seen.replicas.push(pod(1, name, need.units[0].need.asks));
        }
        view.nodes.remove(format!("n{gone}").as_str());
        let once = again(&view, &need, before.as_ref(), Some(&seen));
        let twice = again(&view, &need, Some(&once.booking), Some(&seen));
        prop_assert_eq!(&once, &twice);
        let planned = once.booking.units[0].planned();
        prop_assert!(planned <= count && (planned == count) == once.homeless.is_none());
        prop_assert!(once.booking.units[0].plan.iter().all(|(node, _)| view.nodes.contains_key(node)));
    }
}
