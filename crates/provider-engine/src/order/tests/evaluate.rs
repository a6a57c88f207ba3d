//! Evaluations as a whole.

use std::collections::BTreeSet;

use akash_types::UnmetCapability;

use super::build::{World, address, attributes, coin, signed_by, volume};
use crate::cluster::view::StorageClass;
use crate::inventory::{NoRoom, Scarce, Shortage, Unplaceable};
use crate::order::decline::Decline;
use crate::order::eligibility::Ineligible;
use crate::order::evaluate::{Evaluation, evaluate};
use crate::order::policy::Refusal;
use crate::order::pricing::{Decimal, PriceError, Pricing, Scales, ScriptFailure, ScriptRequest};

fn evaluated(change: impl FnOnce(&mut World)) -> Evaluation {
    let mut world = World::new();
    change(&mut world);
    evaluate(&world.ask(), &world.facts(), &world.free(), &world.rules())
}

fn codes(change: impl FnOnce(&mut World)) -> Vec<&'static str> {
    match evaluated(change) {
        Evaluation::Decline(reasons) => reasons.iter().map(Decline::code).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_wanted_allowed_and_fits_is_bid_on() {
    let Evaluation::Bid { reservation, offer, price } = evaluated(|_| {}) else {
        panic!("declined")
    };
    assert_eq!(reservation.units[0].plan[..], [("a".into(), 1)]);
    let spec = World::new().spec;
    assert!(!price.is_zero() && price.amount() <= spec.total_price().unwrap().amount());
    assert_eq!(offer[0].resources, spec.resources[0].resources);
    assert_eq!((offer.len(), offer[0].count, &offer[0].prices), (1, 1, &None));
}

#[test]
fn everything_that_speaks_against_it_is_named_policy_first() {
    let found = codes(|world| {
        world.policy.paused = true;
        world.policy.deny = [address(1)].into();
        world.spec.requirements.attributes = attributes(&[("region", "east")]);
        world.deposit = coin("1uakt");
    });
    assert_eq!(found, ["paused", "owner-denied", "attributes", "deposit-too-small"]);
}

#[test]
fn only_a_script_is_asked_for_a_price_and_only_for_what_fits() {
    let asked = |world: &mut World| world.pricing = Pricing::Script;
    let Evaluation::AskScript { offer, request, .. } = evaluated(asked) else { panic!("asked") };
    let World { spec, .. } = World::new();
    let most = spec.total_price().unwrap();
    assert_eq!(request, ScriptRequest::new(&address(1), &offer, &most));
    let stranger = evaluated(|world| {
        asked(world);
        world.owner = None;
    });
    let Evaluation::AskScript { request, .. } = stranger else { panic!("{stranger:?}") };
    assert_eq!(request, ScriptRequest::new(&address(9), &offer, &most));
    let too_large = codes(|world| {
        asked(world);
        world.spec.resources[0].resources.cpu.units = 9000;
    });
    assert_eq!(too_large, ["no-room-cpu"]);
}

#[test]
fn a_price_that_may_not_be_bid_is_a_decline() {
    let above = codes(|world| {
        let cpu = Decimal::parse("2").unwrap();
        let storage = Scales::parse_storage("0").unwrap();
        world.pricing = Pricing::Scale(Box::new(Scales { cpu, storage, ..Scales::default() }));
    });
    assert_eq!(above, ["price-above-maximum"]);
    let unpriced = codes(|world| {
        let storage = volume(&[("class", "beta2"), ("persistent", "true")]);
        world.spec.resources[0].resources.storage = vec![storage];
        world.pricing = Pricing::Scale(Box::default());
        world.own.extend(attributes(&[
            ("capabilities/storage/1/class", "beta2"),
            ("capabilities/storage/1/persistent", "true"),
        ]));
        world.view.storage.insert(
            "beta2".into(),
            StorageClass { allocatable: 1 << 40, others: 0, ..StorageClass::default() },
        );
        world.view.nodes.values_mut().for_each(|it| it.storage_classes = vec!["beta2".into()]);
    });
    assert_eq!(unpriced, ["price-storage-class"]);
}

#[test]
fn a_place_is_looked_for_last() {
    let too_large = |world: &mut World| world.spec.resources[0].resources.cpu.units = 9000;
    assert_eq!(codes(too_large), ["no-room-cpu"]);
    let also_unwanted = |world: &mut World| {
        too_large(world);
        world.maintenance = true;
    };
    assert_eq!(codes(also_unwanted), ["maintenance"]);
}

#[test]
fn missing_signatures_are_named_with_all_else() {
    let unsigned = |world: &mut World| {
        world.spec.requirements.signed_by = signed_by(&["x"], &["y", "z"]);
        world.policy.paused = true;
    };
    assert_eq!(codes(unsigned), ["paused", "not-signed"]);
}

#[test]
fn what_no_cluster_can_have_is_said_with_all_else() {
    let found = codes(|world| {
        let storage = &mut world.spec.resources[0].resources.storage;
        storage.push(volume(&[("persistent", "true")]));
        world.own.extend(attributes(&[("capabilities/storage/1/persistent", "true")]));
        world.maintenance = true;
    });
    assert_eq!(found, ["maintenance", "volume-class"]);
}

#[test]
fn what_this_provider_cannot_run_is_declined_before_a_lease_is_made() {
    let arm = codes(|world| {
        let cpu = &mut world.spec.resources[0].resources.cpu;
        cpu.attributes = attributes(&[("arch", "arm64")]);
    });
    assert_eq!(arm, ["no-room-arch"]);
    let interconnect = codes(|world| {
        let gpu = &mut world.spec.resources[0].resources.gpu;
        gpu.units = 1;
        gpu.attributes =
            attributes(&[("interconnect/group", "auto"), ("vendor/nvidia/model/*", "true")]);
        world.own.extend(attributes(&[("capabilities/gpu/vendor/nvidia/model/a100", "true")]));
    });
    assert_eq!(interconnect, ["gpu-interconnect"]);
    // Also where the provider's attributes say that it has it, as those of another program may.
    let confidential = codes(|world| {
        world.spec.requirements.attributes.extend(attributes(&[("tee/type", "cpu")]));
        world.own.extend(attributes(&[("tee/type", "cpu")]));
    });
    assert_eq!(confidential, ["confidential-computing"]);
}

#[test]
fn an_order_for_verified_providers_is_declined_only_while_the_chain_compares() {
    let asked = |active: bool, min_tier: i32| {
        evaluated(|world| {
            world.verification_active = active;
            let wanted = akash_types::VerificationRequirement {
                min_tier,
                ..akash_types::VerificationRequirement::default()
            };
            world.spec.requirements.verification = Some(wanted);
        })
    };
    let Evaluation::Decline(reasons) = asked(true, 1) else { panic!("not declined") };
    assert_eq!(reasons.iter().map(Decline::code).collect::<Vec<_>>(), ["not-verified"]);
    for (active, min_tier) in [(true, 0), (false, 4)] {
        let evaluation = asked(active, min_tier);
        assert!(
            matches!(evaluation, Evaluation::Bid { .. }),
            "{active} {min_tier}: {evaluation:?}"
        );
    }
}

#[test]
fn every_reason_has_its_own_code_and_words() {
    let owner = address(1);
    let dec_coin = || "1uact".parse().unwrap();
    let price = "1".parse().unwrap();
    let text = || "x".to_owned();
    let floor = akash_types::Dec::default();
    let denom = || "uact".parse::<akash_types::Denom>().unwrap();
    let hour = super::build::HOUR;
    let key_error = "x".parse::<akash_types::GpuRequest>().unwrap_err();
    let shortage = |scarce| {
        let (unit, wanted, fitted, need, largest) = (1, 2, 1, 5, 4);
        let short = Shortage { unit, wanted, fitted, scarce, need, largest };
        Decline::NoRoom(NoRoom::Unit(Box::new(short)))
    };
    let all: Vec<Decline> = vec![
        Refusal::Paused.into(),
        Refusal::Maintenance.into(),
        Refusal::OwnerDenied { owner }.into(),
        Refusal::OwnerNotAllowed { owner }.into(),
        Refusal::OpenBids { owner, open: 1, limit: 1 }.into(),
        Refusal::OrderIsFull { bids: 20, limit: 20 }.into(),
        Refusal::PaysTooLittle { most: dec_coin(), floor }.into(),
        Refusal::PriceBelowFloor { price: dec_coin(), floor }.into(),
        Refusal::FeeBudget { spent: 1, fee: 1, budget: 1 }.into(),
        Refusal::Wallet {
            short: crate::escrow::Shortage { held: coin("0uakt"), needed: coin("1uakt") },
        }
        .into(),
        Ineligible::Attributes { missing: Vec::new() }.into(),
        Ineligible::OrderFilter { missing: Vec::new() }.into(),
        Ineligible::Confidential { kind: text() }.into(),
        Ineligible::Capability(UnmetCapability::Storage { unit: 0, volume: 0 }).into(),
        Ineligible::Capability(UnmetCapability::Gpu { unit: 0 }).into(),
        Ineligible::Volumes { unit: 1, volumes: 5 }.into(),
        Ineligible::NotSigned { auditors: Vec::new() }.into(),
        Ineligible::NotVerified { min_tier: 1 }.into(),
        Ineligible::Group { violations: Vec::new() }.into(),
        Ineligible::NoReclamation { wanted: hour }.into(),
        Ineligible::ReclamationTooShort { offered: hour, wanted: hour }.into(),
        Ineligible::ReclamationOutsideLimits { offered: hour, min: hour, max: hour }.into(),
        Ineligible::DepositDenom { deposit: coin("1uakt"), accepted: Vec::new() }.into(),
        Ineligible::DepositTooSmall { deposit: coin("1uakt"), least: coin("2uakt") }.into(),
        Ineligible::PriceDenom { denom: denom(), accepted: Vec::new() }.into(),
        Unplaceable::Card { unit: 1, source: key_error }.into(),
        Unplaceable::VolumeClass { unit: 1, volume: 0 }.into(),
        Unplaceable::Interconnect { unit: 1, group: text() }.into(),
        Unplaceable::Arch { unit: 1, source: "x".parse::<akash_types::CpuArch>().unwrap_err() }
            .into(),
        shortage(Scarce::Nodes),
        shortage(Scarce::Arch(akash_types::CpuArch::Arm64)),
        shortage(Scarce::Cpu),
        shortage(Scarce::Memory),
        shortage(Scarce::Ephemeral),
        shortage(Scarce::Cards),
        shortage(Scarce::Storage("beta2".into())),
        NoRoom::NoIpPool { wanted: 1 }.into(),
        NoRoom::Ips { wanted: 1, free: 0 }.into(),
        NoRoom::Ports { wanted: 1, free: 0 }.into(),
        PriceError::Group(akash_types::GroupPriceError::NoUnits).into(),
        PriceError::NoScale { class: text() }.into(),
        PriceError::Zero.into(),
        PriceError::Negative { price }.into(),
        PriceError::TooPrecise { places: 19 }.into(),
        PriceError::TooLarge.into(),
        PriceError::Output { text: text() }.into(),
        PriceError::Script(ScriptFailure::TimedOut).into(),
        Decline::OtherDenom { denom: denom(), wanted: denom() },
        Decline::TooExpensive { price: dec_coin(), most: dec_coin() },
    ];
    let codes: BTreeSet<_> = all.iter().map(Decline::code).collect();
    let words: BTreeSet<_> = all.iter().map(ToString::to_string).collect();
    assert_eq!((codes.len(), words.len()), (all.len(), all.len()));
    for code in codes {
        assert!(code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{code}");
    }
}
