//! The rules for bids, in their order.

use akash_types::{AuditedAttributes, matches_requirements};
use proptest::prelude::*;

use super::build::{HOUR, MIB, World, attributes, coin, signed_by, volume};
use crate::order::eligibility::{Ineligible, eligibility};

fn check(change: impl FnOnce(&mut World)) -> Vec<Ineligible> {
    let mut world = World::new();
    change(&mut world);
    eligibility(&world.ask(), &world.facts())
}

fn codes(change: impl FnOnce(&mut World)) -> Vec<&'static str> {
    check(change).iter().map(Ineligible::code).collect()
}

#[test]
fn what_asks_for_nothing_special_is_served() {
    assert_eq!(check(|_| {}), []);
}

#[test]
fn required_attributes_must_be_there() {
    for (required, missing) in [
        (&[("region", "west")][..], &[][..]),
        (&[("region", "east")], &[("region", "east")]),
        (&[("region", "west"), ("tier", "gold")], &[("tier", "gold")]),
        // The key of a requirement is a pattern.
        (&[("reg*", "west")], &[]),
        (&[("[", "west")], &[("[", "west")]),
    ] {
        let found = check(|world| world.spec.requirements.attributes = attributes(required));
        let expected =
            (!missing.is_empty()).then(|| Ineligible::Attributes { missing: attributes(missing) });
        assert_eq!(found, Vec::from_iter(expected), "{required:?}");
    }
}

#[test]
fn an_order_must_ask_for_what_the_configuration_demands() {
    let demand = |required: &[(&str, &str)], filter: &[(&str, &str)]| {
        check(|world| {
            world.own = attributes(&[("region", "west"), ("tier", "gold")]);
            world.spec.requirements.attributes = attributes(required);
            world.filter = attributes(filter);
        })
    };
    let gold = [("tier", "gold")];
    assert!(demand(&gold, &gold).is_empty());
    assert!(demand(&[("region", "west"), ("tier", "gold")], &gold).is_empty());
    let missing = attributes(&gold);
    assert_eq!(demand(&[], &gold), [Ineligible::OrderFilter { missing }]);
}

#[test]
fn storage_and_cards_must_be_capabilities() {
    let persistent = [("class", "beta2"), ("persistent", "true")];
    let wants_storage = |world: &mut World| {
        world.spec.resources[0].resources.storage.push(volume(&persistent));
    };
    assert_eq!(codes(wants_storage), ["capability-storage"]);
    let has_storage = |world: &mut World| {
        wants_storage(world);
        world.own.extend(attributes(&[
            ("capabilities/storage/1/class", "beta2"),
            ("capabilities/storage/1/persistent", "true"),
        ]));
    };
    assert!(codes(has_storage).is_empty());

    let wants_card = |world: &mut World| {
        let gpu = &mut world.spec.resources[0].resources.gpu;
        gpu.units = 1;
        gpu.attributes =
            attributes(&[("vendor/nvidia/model/t4", "true"), ("vendor/nvidia/model/a100", "true")]);
    };
    assert_eq!(codes(wants_card), ["capability-gpu"]);
    let has_card = |world: &mut World| {
        wants_card(world);
        world.own.extend(attributes(&[("capabilities/gpu/vendor/nvidia/model/a100", "true")]));
    };
    assert!(codes(has_card).is_empty());
}

#[test]
fn four_volumes_are_served() {
    for (volumes, expected) in [(4, &[][..]), (5, &["volumes"])] {
        let found = codes(|world| {
            world.spec.resources[0].resources.storage = vec![volume(&[]); volumes];
        });
        assert_eq!(found, expected);
    }
}

#[test]
fn the_group_must_be_valid() {
    let found = check(|world| {
        world.spec.resources[0].resources.cpu.units = 9;
        world.spec.resources[0].resources.memory.quantity = MIB - 1;
    });
    let [Ineligible::Group { violations }] = &*found else { panic!("{found:?}") };
    assert_eq!(violations.len(), 2);
    assert_eq!(
        found[0].to_string(),
        "the group is not valid: group 0, resource unit 0: CPU (milli) is 9, expected 10 to 384000; group 0, resource unit 0: memory (bytes) is 1048575, expected 1048576 to 2199023255552"
    );
}

#[test]
fn signatures_are_looked_up_and_matched() {
    let west = attributes(&[("region", "west")]);
    let east = attributes(&[("region", "east")]);
    for (all, any, audits, missing) in [
        (&["x"][..], &[][..], vec![], &["x"][..]),
        (&["x"], &[], vec![("x", &west)], &[]),
        (&["x"], &[], vec![("x", &east)], &["x"]),
        (&["y", "x"], &[], vec![("x", &west)], &["y"]),
        (&["x", "y"], &[], vec![], &["x", "y"]),
        (&[], &["x", "y"], vec![], &["x", "y"]),
        // One who vouches suffices.
        (&[], &["x", "y"], vec![("y", &west)], &[]),
        (&[], &["x", "y"], vec![("x", &east)], &["x", "y"]),
        (&["x"], &["y"], vec![("x", &west)], &["y"]),
        (&["x"], &["y"], vec![("x", &west), ("y", &west)], &[]),
        (&["x"], &["y"], vec![("y", &west)], &["x"]),
    ] {
        let found = check(|world| {
            world.spec.requirements.attributes = west.clone();
            world.spec.requirements.signed_by = signed_by(all, any);
            world.audits = audits
                .iter()
                .map(|(name, signed)| ((*name).to_owned(), (*signed).clone()))
                .collect();
        });
        let auditors = missing.iter().map(|name| (*name).to_owned()).collect();
        let expected = (!missing.is_empty()).then_some(Ineligible::NotSigned { auditors });
        assert_eq!(found, Vec::from_iter(expected), "{all:?} {any:?} {audits:?}");
    }
}

#[test]
fn with_no_attributes_asked_for_the_signature_alone_counts() {
    let found = codes(|world| {
        world.spec.requirements.signed_by = signed_by(&["x"], &[]);
        world.audits = [("x".to_owned(), Vec::new())].into();
    });
    assert!(found.is_empty());
}

#[test]
fn reclamation_must_be_what_order_and_chain_allow() {
    for (asked, offered, expected) in [
        (None, None, &[][..]),
        (None, Some(2), &[]),
        (Some(2), Some(2), &[]),
        (Some(1), Some(720), &[]),
        (Some(2), None, &["reclamation-not-offered"]),
        (Some(3), Some(2), &["reclamation-too-short"]),
        (None, Some(0), &["reclamation-outside-limits"]),
        (None, Some(721), &["reclamation-outside-limits"]),
        (Some(1), Some(0), &["reclamation-too-short", "reclamation-outside-limits"]),
    ] {
        let found = codes(|world| {
            world.min_window = asked.map(|hours| HOUR * hours);
            world.window = offered.map(|hours| HOUR * hours);
        });
        assert_eq!(found, expected, "{asked:?} asked, {offered:?} offered");
    }
}

#[test]
fn the_deposit_must_be_what_the_chain_takes() {
    for (deposit, expected) in [
        ("500000uakt", &[][..]),
        ("500000uact", &[]),
        ("499999uakt", &["deposit-too-small"]),
        ("9000000ibc/170C67", &["deposit-denom"]),
    ] {
        assert_eq!(codes(|world| world.deposit = coin(deposit)), expected, "{deposit}");
    }
}

#[test]
fn the_order_must_pay_in_what_has_prices() {
    let denoms = |names: &[&str]| names.iter().map(|name| name.parse().unwrap()).collect();
    assert!(codes(|world| world.denoms = denoms(&["uakt", "uact"])).is_empty());
    assert_eq!(codes(|world| world.denoms = denoms(&["uakt"])), ["price-denom"]);
}

#[test]
fn reasons_come_in_the_order_of_the_rules() {
    let found = codes(|world| {
        world.spec.requirements.attributes = attributes(&[("region", "east")]);
        world.filter = attributes(&[("tier", "gold")]);
        let resources = &mut world.spec.resources[0].resources;
        resources.storage = vec![volume(&[("class", "beta2"), ("persistent", "true")]); 5];
        resources.cpu.units = 1;
        world.spec.requirements.signed_by = signed_by(&["x"], &[]);
        world.min_window = Some(HOUR);
        world.deposit = coin("1uakt");
        world.denoms = vec!["uakt".parse().unwrap()];
    });
    assert_eq!(
        found,
        [
            "attributes",
            "order-filter",
            "capability-storage",
            "volumes",
            "not-signed",
            "group-invalid",
            "reclamation-not-offered",
            "deposit-too-small",
            "price-denom",
        ]
    );
}

proptest! {
    #[test]
    fn the_rule_of_signatures_is_that_of_the_chain(
        all in proptest::collection::vec("[a-d]", 0..3),
        any in proptest::collection::vec("[a-d]", 0..3),
        audits in proptest::collection::btree_map("[a-d]", "east|west", 0..5),
    ) {
        let mut world = World::new();
        let requirements = &mut world.spec.requirements;
        requirements.attributes = attributes(&[("region", "west")]);
        requirements.signed_by.all_of = Some(all);
        requirements.signed_by.any_of = Some(any);
        let of = |region: &String| attributes(&[("region", region)]);
        world.audits = audits.iter().map(|(name, region)| (name.clone(), of(region))).collect();
        let found = eligibility(&world.ask(), &world.facts());
        let signed: Vec<_> = world.audits.iter().map(|(auditor, attributes)| {
            AuditedAttributes { auditor: auditor.clone(), attributes: attributes.clone() }
        }).collect();
        let matches = matches_requirements(&world.spec.requirements, &world.own, &signed);
        prop_assert_eq!(found.is_empty(), matches);
    }
}
