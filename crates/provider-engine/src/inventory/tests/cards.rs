//! Cards: one kind per unit, none sold twice.

use proptest::prelude::*;

use super::build::{
    card, choice, cluster, gpu_node, group, lease, need, node, pod, unit, with_gpu,
};
use crate::cluster::view::{Amounts, CardState, ClusterView};
use crate::inventory::{Free, GroupNeed, NoRoom, Scarce, place};

fn gpus(count: u32, each: u64, keys: &[&str]) -> GroupNeed {
    need(vec![with_gpu(unit(1, count, 100, 1), each, keys)])
}

/// How often `need` can be sold, and the cards of the last sale.
fn sales(view: &ClusterView, need: &GroupNeed) -> (usize, Option<String>) {
    let mut free = Free::compute(view, []);
    let (mut sold, mut model) = (0, None);
    while let Ok(booking) = place(&free, need) {
        free = free.without(&booking);
        sold += 1;
        model = booking.units[0].card.as_ref().map(|card| card.model.to_string());
    }
    (sold, model)
}

#[test]
fn a_mixed_node_sells_each_card_once() {
    let view = cluster(&[("a", gpu_node(&[("a100", 4), ("t4", 4)]))]);
    let a100 = ["vendor/nvidia/model/a100"];
    assert_eq!(sales(&view, &gpus(1, 1, &a100)), (4, Some("a100".to_owned())));
    assert_eq!(sales(&view, &gpus(1, 2, &a100)), (2, Some("a100".to_owned())));
    assert_eq!(sales(&view, &gpus(2, 2, &a100)), (1, Some("a100".to_owned())));
    assert_eq!(sales(&view, &gpus(1, 5, &["vendor/nvidia/model/*"])), (0, None));
    assert_eq!(sales(&view, &gpus(1, 1, &["vendor/nvidia/model/*"])).0, 8);
    assert_eq!(sales(&view, &gpus(1, 1, &["vendor/amd/model/*"])).0, 0);
}

#[test]
fn a_unit_is_never_split_over_two_models() {
    let view = cluster(&[("a", gpu_node(&[("a100", 2)])), ("b", gpu_node(&[("t4", 2)]))]);
    let both = ["vendor/nvidia/model/a100", "vendor/nvidia/model/t4"];
    assert_eq!(sales(&view, &gpus(2, 1, &both)).0, 2);
    assert_eq!(sales(&view, &gpus(3, 1, &both)).0, 0);
    let booking = place(&Free::compute(&view, []), &gpus(2, 1, &both)).unwrap();
    assert_eq!(booking.units[0].plan.len(), 1);
}

#[test]
fn the_least_card_that_will_do_is_sold_first() {
    let view = cluster(&[("a", gpu_node(&[("h100/80/sxm", 8)])), ("b", gpu_node(&[("t4/16", 2)]))]);
    let any = gpus(1, 1, &["vendor/nvidia/model/*"]);
    let booking = place(&Free::compute(&view, []), &any).unwrap();
    assert_eq!(booking.units[0].card, Some(choice("t4")));
    let large = gpus(1, 1, &["vendor/nvidia/model/*/ram/80Gi"]);
    let booking = place(&Free::compute(&view, []), &large).unwrap();
    assert_eq!(booking.units[0].card, Some(choice("h100/80")));
}

#[test]
fn memory_and_interface_are_matched() {
    let view = cluster(&[("a", gpu_node(&[("a100/40/pcie", 1), ("a100/80/sxm", 2), ("a100", 1)]))]);
    for (key, cards) in [
        ("vendor/nvidia/model/a100", 4),
        ("vendor/nvidia/model/a100/ram/40Gi", 1),
        ("vendor/nvidia/model/a100/ram/80Gi", 2),
        ("vendor/nvidia/model/a100/interface/sxm", 2),
        ("vendor/nvidia/model/a100/ram/80Gi/interface/sxm", 2),
        ("vendor/nvidia/model/a100/ram/80Gi/interface/pcie", 0),
        ("vendor/nvidia/model/A100", 0),
    ] {
        assert_eq!(sales(&view, &gpus(1, 1, &[key])).0, cards, "{key}");
    }
}

#[test]
fn a_card_that_may_be_held_is_not_sold() {
    // Somebody was promised an a100, and nobody knows which of the two it has.
    let view = cluster(&[("a", gpu_node(&[("a100/40", 1), ("a100/80", 1)]))]);
    let any = place(&Free::compute(&view, []), &gpus(1, 1, &["vendor/nvidia/model/a100"])).unwrap();
    let rest = Free::compute(&view, [(&any, None)]);
    assert!(place(&rest, &gpus(1, 1, &["vendor/nvidia/model/a100/ram/80Gi"])).is_err());
    assert!(place(&rest, &gpus(1, 1, &["vendor/nvidia/model/a100"])).is_ok());
}

#[test]
fn cards_of_others_are_not_ours() {
    let mut node = gpu_node(&[("a100", 2), ("t4", 2)]);
    node.cards[0].state = CardState::TakenByOthers;
    node.others.gpu = 1;
    let mut view = cluster(&[("a", node)]);
    assert_eq!(sales(&view, &gpus(1, 1, &["vendor/nvidia/model/a100"])).0, 1);
    assert_eq!(sales(&view, &gpus(1, 1, &["vendor/nvidia/model/*"])).0, 3);
    // Cards that the node lists and cannot use are bounded by what it can.
    view.nodes.get_mut("a").unwrap().allocatable.gpu = 2;
    assert_eq!(sales(&view, &gpus(1, 1, &["vendor/nvidia/model/*"])).0, 1);
}

#[test]
fn a_pod_whose_card_is_not_known_counts_against_every_kind() {
    let mut view = cluster(&[("a", gpu_node(&[("a100", 1), ("t4", 1)]))]);
    let mut seen = lease(1, &[]);
    seen.replicas.push(pod(1, Some("a"), Amounts { gpu: 1, ..Amounts::default() }));
    view.leases.insert(seen.id, seen.clone());
    assert_eq!(sales(&view, &gpus(1, 1, &["vendor/nvidia/model/a100"])).0, 0);
    // Nor does a model help that the node does not have.
    seen.replicas[0].card = Some(choice("h100"));
    view.leases.insert(seen.id, seen.clone());
    assert_eq!(sales(&view, &gpus(1, 1, &["vendor/nvidia/model/a100"])).0, 0);
    seen.replicas[0].card = Some(choice("t4"));
    view.leases.insert(seen.id, seen);
    assert_eq!(sales(&view, &gpus(1, 1, &["vendor/nvidia/model/a100"])).0, 1);
}

#[test]
fn units_with_less_choice_choose_first() {
    let view = cluster(&[("a", gpu_node(&[("a100/80", 1), ("t4/16", 1)]))]);
    let free = Free::compute(&view, []);
    let any = with_gpu(unit(1, 1, 100, 1), 1, &["vendor/nvidia/model/*"]);
    let t4 = with_gpu(unit(2, 1, 100, 1), 1, &["vendor/nvidia/model/t4"]);
    for units in [vec![any.clone(), t4.clone()], vec![t4, any]] {
        let booking = place(&free, &need(units)).unwrap();
        assert_eq!(booking.unit(1).unwrap().card, Some(choice("a100")));
        assert_eq!(booking.unit(2).unwrap().card, Some(choice("t4")));
    }
}

#[test]
fn the_offer_names_the_one_kind_of_card() {
    let view = cluster(&[("a", gpu_node(&[("a100/80/sxm", 2)])), ("b", node(8, 16, 100))]);
    let free = Free::compute(&view, []);
    for (keys, pinned) in [
        (&["vendor/nvidia/model/*"][..], "vendor/nvidia/model/a100"),
        (&[][..], "vendor/nvidia/model/a100"),
        (&["vendor/nvidia/model/a100", "vendor/nvidia/model/t4"], "vendor/nvidia/model/a100"),
        (&["vendor/nvidia/model/*/ram/80Gi"], "vendor/nvidia/model/a100/ram/80Gi"),
        (
            &["vendor/nvidia/model/a100/interface/sxm/ram/81920Mi"],
            "vendor/nvidia/model/a100/ram/80Gi/interface/sxm",
        ),
    ] {
        let group = group(vec![with_gpu(unit(1, 2, 100, 1), 1, keys), unit(2, 3, 200, 2)]);
        let need = GroupNeed::of(&group, &crate::inventory::CommitLevels::from_percent(100, 0, 0));
        let offer = place(&free, &need.unwrap()).unwrap().offer(&group);
        let attributes = &offer[0].resources.gpu.attributes;
        assert_eq!(attributes.len(), 1);
        assert_eq!((attributes[0].key.as_str(), attributes[0].value.as_str()), (pinned, "true"));
        // All else is as ordered: by number, in full, with its count and without prices.
        let counts: Vec<_> = offer.iter().map(|offer| (offer.resources.id, offer.count)).collect();
        assert_eq!(counts, [(1, 2), (2, 3)]);
        assert_eq!(offer[0].resources.cpu.units, 100);
        assert_eq!(offer[1].resources, group.resources[1].resources);
        assert!(offer.iter().all(|offer| offer.prices.is_none()));
    }
}

#[test]
fn a_lack_of_cards_says_how_many_one_node_has() {
    let view = cluster(&[("a", gpu_node(&[("a100", 3)])), ("b", gpu_node(&[("t4", 4)]))]);
    let error = place(&Free::compute(&view, []), &gpus(1, 8, &["vendor/nvidia/model/a100"]));
    let Err(NoRoom::Unit(short)) = error else { panic!("{error:?}") };
    assert_eq!((short.scarce, short.need, short.largest), (Scarce::Cards, 8, 3));
}

const KINDS: [&str; 5] = ["a100/40/pcie", "a100/80/sxm", "t4/16", "t4", "h100/80/sxm"];
const KEYS: [&str; 7] = [
    "vendor/nvidia/model/*",
    "vendor/nvidia/model/a100",
    "vendor/nvidia/model/a100/ram/80Gi",
    "vendor/nvidia/model/t4",
    "vendor/nvidia/model/t4/ram/16Gi",
    "vendor/nvidia/model/*/interface/sxm",
    "vendor/nvidia/model/*/ram/80Gi",
];

proptest! {
    #[test]
    fn cards_can_be_handed_out_as_they_were_sold(
        stock in proptest::collection::vec((0_usize..5, 1_usize..4), 1..4),
        orders in proptest::collection::vec((1_u32..3, 1_u64..3, 0_usize..7), 1..20),
    ) {
        let nodes: Vec<_> = stock.iter().map(|(kind, count)| (KINDS[*kind], *count)).collect();
        let view = cluster(&[("a", gpu_node(&nodes))]);
        let mut free = Free::compute(&view, []);
        let mut sold = Vec::new();
        for (count, each, key) in orders {
            let Ok(booking) = place(&free, &gpus(count, each, &[KEYS[key]])) else { continue };
            free = free.without(&booking);
            let units = &booking.units[0];
            // One card kind for all, and as many replicas as ordered.
            prop_assert_eq!(units.planned(), count);
            let cards = u32::try_from(each).unwrap() * count;
            sold.extend(std::iter::repeat_n(units.card.clone().unwrap(), cards as usize));
        }
        // Every sale can be given a card of its own: specific promises choose first.
        let mut cards: Vec<_> = nodes.iter()
            .flat_map(|(text, count)| std::iter::repeat_n(card(text), *count)).collect();
        sold.sort_by_key(|sale| sale.memory_gib.is_none() && sale.interface.is_none());
        for sale in sold {
            let at = cards.iter().position(|card| {
                card.model == sale.model
                    && sale.memory_gib.is_none_or(|gib| card.memory_gib == Some(gib))
                    && sale.interface.is_none_or(|interface| card.interface == Some(interface))
            });
            prop_assert!(at.is_some(), "no card left for {sale:?}");
            cards.swap_remove(at.unwrap());
        }
    }
}
