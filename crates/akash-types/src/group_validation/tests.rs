use super::*;
use crate::{Cpu, Gpu, Memory, PlacementRequirements, Resources, Storage};

fn unit(id: u32) -> ResourceUnit {
    let volume = Storage { name: "default".to_owned(), quantity: 512 * MIB, attributes: vec![] };
    ResourceUnit {
        resources: Resources {
            id,
            cpu: Cpu { units: 100, attributes: vec![] },
            memory: Memory { quantity: 512 * MIB, attributes: vec![] },
            storage: vec![volume],
            gpu: Gpu::default(),
            endpoints: vec![],
        },
        count: 1,
        price: "50uact".parse().unwrap(),
    }
}

fn group(name: &str, resources: Vec<ResourceUnit>) -> GroupSpec {
    let requirements = PlacementRequirements::default();
    GroupSpec { name: name.to_owned(), requirements, resources }
}

/// What is wrong with a good unit after `change`.
fn with(change: impl FnOnce(&mut ResourceUnit)) -> Vec<GroupViolation> {
    let mut unit = unit(1);
    change(&mut unit);
    validate_groups(&[group("west", vec![unit])])
}

fn fields(found: &[GroupViolation]) -> Vec<GroupField> {
    found.iter().map(|violation| violation.field).collect()
}

#[test]
fn a_good_deployment_has_no_violations() {
    let groups = [group("west", vec![unit(1), unit(2)]), group("east", vec![unit(1)])];
    assert_eq!(validate_groups(&groups), []);
}

#[test]
fn amounts_of_a_unit_have_limits() {
    type Change = fn(&mut ResourceUnit, u64);
    let rows: [(GroupField, Change, u64, u64); 4] = [
        (GroupField::Cpu, |unit, value| unit.resources.cpu.units = value, 10, 384_000),
        (GroupField::Gpu, |unit, value| unit.resources.gpu.units = value, 0, 24),
        (
            GroupField::Memory,
            |unit, value| unit.resources.memory.quantity = value,
            1_048_576,
            2_199_023_255_552,
        ),
        (
            GroupField::Storage(0),
            |unit, value| unit.resources.storage[0].quantity = value,
            5_242_880,
            35_184_372_088_832,
        ),
    ];
    for (field, change, min, max) in rows {
        assert_eq!(with(|unit| change(unit, min)), [], "{field} {min}");
        assert_eq!(with(|unit| change(unit, max)), [], "{field} {max}");
        for value in [min.checked_sub(1), Some(max + 1), Some(u64::MAX)].into_iter().flatten() {
            let found = with(|unit| change(unit, value));
            let first = found.first().unwrap();
            assert_eq!((first.unit, first.field), (Some(0), field), "{value}");
            let (value, min, max) = (value.into(), min.into(), max.into());
            assert_eq!(first.problem, GroupProblem::OutOfRange { value, min, max });
        }
    }
}

#[test]
fn totals_of_a_group_have_limits() {
    type Change = fn(&mut ResourceUnit);
    let rows: [(GroupField, Change); 3] = [
        (GroupField::TotalCpu, |unit| unit.resources.cpu.units = 384_000),
        (GroupField::TotalGpu, |unit| unit.resources.gpu.units = 24),
        (GroupField::TotalMemory, |unit| unit.resources.memory.quantity = 2 * TIB),
    ];
    for (field, largest) in rows {
        let replicas = |count| {
            let mut found = with(|unit| {
                largest(unit);
                unit.count = count;
            });
            found.retain(|violation| violation.field == field);
            found
        };
        // 50 of the largest unit are exactly the limit, in one unit or in two.
        assert_eq!(replicas(50), []);
        assert_eq!(fields(&replicas(51)), [field]);
        assert_eq!(fields(&replicas(u32::MAX)), [field]);
        let two_units = |count| {
            let (mut first, mut second) = (unit(1), unit(2));
            largest(&mut first);
            largest(&mut second);
            (first.count, second.count) = (25, count);
            let mut found = validate_groups(&[group("west", vec![first, second])]);
            found.retain(|violation| violation.field == field);
            found
        };
        assert_eq!(two_units(25), []);
        assert_eq!(fields(&two_units(26)), [field]);
    }
    // Volumes have no total.
    let found = with(|unit| {
        unit.resources.storage[0].quantity = 32 * TIB;
        unit.count = 51;
    });
    assert_eq!(found, []);
}

#[test]
fn something_must_run() {
    let found = with(|unit| unit.count = 0);
    assert_eq!(fields(&found), [GroupField::Count]);
    assert_eq!(found[0].problem, GroupProblem::Zero);
    // The chain looks at totals only, so a unit without replicas is fine beside one with some.
    let idle = ResourceUnit { count: 0, ..unit(2) };
    assert_eq!(validate_groups(&[group("west", vec![unit(1), idle])]), []);
    let found = validate_groups(&[group("west", vec![])]);
    assert_eq!(fields(&found), [GroupField::Resources]);
    assert_eq!(fields(&validate_groups(&[])), [GroupField::Groups]);
}

#[test]
fn ids_are_positive_and_unique() {
    assert_eq!(fields(&with(|unit| unit.resources.id = 0)), [GroupField::Id]);
    let found = validate_groups(&[group("west", vec![unit(7), unit(3), unit(7), unit(7)])]);
    assert_eq!(fields(&found), [GroupField::Id, GroupField::Id]);
    assert_eq!((found[0].unit, found[1].unit), (Some(2), Some(3)));
    for violation in &found {
        assert_eq!(violation.problem, GroupProblem::Duplicate { value: "7".to_owned(), first: 0 });
    }
}

#[test]
fn volumes_must_be_listed() {
    let found = with(|unit| unit.resources.storage.clear());
    assert_eq!(fields(&found), [GroupField::StorageList]);
    let found = with(|unit| {
        let small = Storage { quantity: 1, ..Storage::default() };
        unit.resources.storage.push(small);
    });
    assert_eq!(fields(&found), [GroupField::Storage(1)]);
}

#[test]
fn attributes_are_well_formed_and_unique() {
    let bad = || vec![Attribute::new("9", "x")];
    let twice = || vec![Attribute::new("arch", "x"), Attribute::new("arch", "y")];
    for attributes in [bad, twice] {
        let found = with(|unit| {
            unit.resources.cpu.attributes = attributes();
            unit.resources.gpu = Gpu { units: 1, attributes: attributes() };
            unit.resources.memory.attributes = attributes();
            unit.resources.storage[0].attributes = attributes();
        });
        assert_eq!(
            fields(&found),
            [GroupField::Cpu, GroupField::Gpu, GroupField::Memory, GroupField::Storage(0)]
        );
        for violation in found {
            assert!(matches!(violation.problem, GroupProblem::Attribute(_)));
        }
    }
    let found = with(|unit| {
        unit.resources.gpu.attributes = vec![Attribute::new("vendor/nvidia/model/*", "true")];
    });
    assert_eq!(fields(&found), [GroupField::Gpu]);
    assert_eq!(found[0].problem, GroupProblem::AttributesWithoutUnits);
    // Keys of requirements are patterns that nobody checks.
    let mut spec = group("west", vec![unit(1)]);
    spec.requirements.attributes = bad();
    assert_eq!(validate_groups(&[spec]), []);
}

#[test]
fn prices_have_a_limit() {
    for (price, is_valid) in [
        ("0uact", true),
        ("10000000uact", true),
        ("10000000.000000000000000001uact", false),
        ("10000001uact", false),
    ] {
        let found = with(|unit| unit.price = price.parse().unwrap());
        assert_eq!(found.is_empty(), is_valid, "{price}");
        assert!(found.iter().all(|violation| violation.field == GroupField::Price));
    }
}

#[test]
fn there_is_one_denomination() {
    let akt = || ResourceUnit { price: "1uakt".parse().unwrap(), ..unit(2) };
    let found = validate_groups(&[group("west", vec![unit(1), akt()])]);
    assert_eq!((fields(&found), found[0].unit), (vec![GroupField::Denom], Some(1)));
    let found = validate_groups(&[group("west", vec![unit(1)]), group("east", vec![akt()])]);
    assert_eq!((fields(&found), found[0].group), (vec![GroupField::Denom], 1));
    assert_eq!(found[0].unit, None);
}

#[test]
fn names_are_given_and_unique() {
    let named = |names: &[&str]| {
        let groups: Vec<_> = names.iter().map(|name| group(name, vec![unit(1)])).collect();
        validate_groups(&groups)
    };
    let found = named(&[""]);
    assert_eq!(fields(&found), [GroupField::Name]);
    assert_eq!(found[0].problem, GroupProblem::Empty);
    let found = named(&["west", "east", "west", "west"]);
    assert_eq!(found.iter().map(|violation| violation.group).collect::<Vec<_>>(), [2, 3]);
    for violation in found {
        let (value, first) = ("west".to_owned(), 0);
        assert_eq!(violation.problem, GroupProblem::Duplicate { value, first });
    }
}

#[test]
fn all_violations_are_reported_in_order() {
    let mut bad = unit(0);
    bad.resources.cpu.units = 9;
    bad.price = "99999999uakt".parse().unwrap();
    let groups = [group("", vec![unit(1), bad]), group("", vec![unit(1)])];
    let found: Vec<_> = validate_groups(&groups).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "group 0: name must not be empty",
            "group 0, resource unit 1: resources id is 0, expected 1 or more",
            "group 0, resource unit 1: CPU (milli) is 9, expected 10 to 384000",
            "group 0, resource unit 1: price 99999999.000000000000000000uakt is too high, \
             expected at most 10000000",
            "group 0, resource unit 1: price denomination uakt differs from uact, \
             expected one denomination for all",
            "group 1: name must not be empty",
            "group 1: name \"\" is already used at index 0, expected each to be used once",
        ]
    );
}
