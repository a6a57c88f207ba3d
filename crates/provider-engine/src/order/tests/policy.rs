//! What the operator wants.

use akash_types::{Dec, DecCoin};

use super::build::{World, address, coin};
use crate::escrow::{Shortage, WalletState};
use crate::order::evaluate::check_price;
use crate::order::isolation::IsolationHold;
use crate::order::policy::Refusal;

fn codes(change: impl FnOnce(&mut World)) -> Vec<&'static str> {
    let mut world = World::new();
    change(&mut world);
    let refusals = world.policy.refusals(&world.ask(), &world.facts());
    refusals.iter().map(Refusal::code).collect()
}

#[test]
fn without_rules_everything_is_wanted() {
    assert!(codes(|_| {}).is_empty());
}

#[test]
fn pause_and_maintenance_stop_bidding() {
    assert_eq!(codes(|world| world.policy.paused = true), ["paused"]);
    assert_eq!(codes(|world| world.maintenance = true), ["maintenance"]);
}

#[test]
fn unknown_isolation_stops_bidding_as_findings_do() {
    for hold in [IsolationHold::Unknown, IsolationHold::Findings] {
        let hold = hold("because".to_owned());
        assert_eq!(codes(|world| world.isolation = Some(hold.clone())), ["isolation"]);
    }
}

#[test]
fn owners_can_be_chosen() {
    let (owner, other) = (address(1), address(9));
    assert_eq!(codes(|world| world.policy.deny = [owner].into()), ["owner-denied"]);
    assert!(codes(|world| world.policy.deny = [other].into()).is_empty());
    assert!(codes(|world| world.policy.allow = Some([owner, other].into())).is_empty());
    assert_eq!(codes(|world| world.policy.allow = Some([other].into())), ["owner-not-allowed"]);
    assert_eq!(codes(|world| world.policy.allow = Some([].into())), ["owner-not-allowed"]);
    // Who is on both lists is denied.
    let both = |world: &mut World| {
        world.policy.allow = Some([owner].into());
        world.policy.deny = [owner].into();
    };
    assert_eq!(codes(both), ["owner-denied"]);
    // Nobody in particular is on no list.
    let nobody = |world: &mut World| {
        world.policy.allow = Some([other].into());
        world.policy.open_bids_per_owner = Some(0);
        world.owner = None;
    };
    assert!(codes(nobody).is_empty());
}

#[test]
fn limits_are_reached_not_exceeded() {
    for (open, limit, refused) in [(0, 1, false), (1, 1, true), (4, 5, false), (6, 5, true)] {
        let found = codes(|world| {
            world.policy.open_bids_per_owner = Some(limit);
            world.open_bids = open;
        });
        assert_eq!(found == ["open-bids-of-owner"], refused, "{open} of {limit}");
    }
    for (bids, refused) in [(None, false), (Some(20), false), (Some(21), true)] {
        let found = codes(|world| world.bids = bids);
        assert_eq!(found == ["order-max-bids"], refused, "{bids:?}");
    }
}

#[test]
fn the_fees_of_a_day_are_bounded() {
    for (spent, budget, refused) in
        [(0, 5000, false), (0, 4999, true), (95_000, 100_000, false), (95_001, 100_000, true)]
    {
        let found = codes(|world| {
            world.policy.daily_fees = Some(budget);
            world.fees_today = spent;
        });
        assert_eq!(found == ["fee-budget"], refused, "{spent} of {budget}");
    }
    let found = codes(|world| {
        world.policy.daily_fees = Some(1);
        world.fees_today = u128::MAX;
    });
    assert_eq!(found, ["fee-budget"]);
}

#[test]
fn an_empty_wallet_refuses_and_an_unknown_or_low_one_does_not() {
    let short = Shortage { held: coin("7uakt"), needed: coin("528080uakt") };
    for (wallet, refused) in [
        (None, false),
        (Some(WalletState::Fine), false),
        (Some(WalletState::Low(short.clone())), false),
        (Some(WalletState::Empty(short.clone())), true),
    ] {
        let found = codes(|world| world.wallet.clone_from(&wallet));
        assert_eq!(found == ["wallet"], refused, "{wallet:?}");
    }
    assert_eq!(
        Refusal::Wallet { short }.to_string(),
        "a bid needs 528080uakt for deposit and fees, 7uakt can be spent"
    );
}

#[test]
fn an_order_must_be_able_to_pay_the_floor() {
    // The order pays at most 100 uact per block.
    for (denom, floor, refused) in [
        ("uact", "100", false),
        ("uact", "100.000000000000000001", true),
        ("uakt", "1000000", false),
    ] {
        let found = codes(|world| {
            let floor = floor.parse::<Dec>().unwrap();
            world.policy.floors = [(denom.parse().unwrap(), floor)].into();
        });
        assert_eq!(found == ["pays-too-little"], refused, "{denom} {floor}");
    }
}

#[test]
fn a_price_lies_between_the_floor_and_what_the_order_pays() {
    let mut world = World::new();
    world.policy.floors = [("uact".parse().unwrap(), "20".parse::<Dec>().unwrap())].into();
    let price = |text: &str| text.parse::<DecCoin>().unwrap();
    for (text, expected) in [
        ("100uact", Ok(())),
        ("20uact", Ok(())),
        ("100.000000000000000001uact", Err("price-above-maximum")),
        ("19.999999999999999999uact", Err("price-below-floor")),
        ("0uact", Err("price-zero")),
        ("50uakt", Err("price-other-denom")),
    ] {
        let result = check_price(&world.spec, &world.policy.floors, &price(text));
        assert_eq!(result.map_err(|decline| decline.code()), expected, "{text}");
    }
    let decline = check_price(&world.spec, &world.policy.floors, &price("15uact")).unwrap_err();
    assert_eq!(
        decline.to_string(),
        "the price 15.000000000000000000uact per block is below the floor of 20.000000000000000000"
    );
}
