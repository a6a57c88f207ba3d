//! What the operator wants.

use akash_types::{Dec, DecCoin};

use super::build::{World, address, coin};
use crate::bidding::evaluate::check_price;
use crate::bidding::isolation::IsolationHold;
use crate::bidding::policy::{Floor, LeaseFloor, Refusal};

fn codes(change: impl FnOnce(&mut World)) -> Vec<&'static str> {
    let mut world = World::new();
    change(&mut world);
    let refusals = world.policy.refusals(&world.ask(), &world.facts());
    refusals.iter().map(Refusal::code).collect()
}

fn floor(per_block: &str, lease: Option<(&str, u64)>) -> Floor {
    let dec = |text: &str| text.parse::<Dec>().unwrap();
    let lease = lease.map(|(value, blocks)| LeaseFloor { value: dec(value), blocks });
    Floor { per_block: dec(per_block), lease }
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
    for (bids, refused) in [(None, false), (Some(19), false), (Some(20), true), (Some(21), true)] {
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
fn a_wallet_must_hold_deposit_and_fee() {
    for (wallet, deposit, refused) in [
        (None, "500000uakt", false),
        (Some(vec![]), "500000uakt", true),
        (Some(vec![coin("505000uakt")]), "500000uakt", false),
        (Some(vec![coin("504999uakt")]), "500000uakt", true),
        (Some(vec![coin("5000uakt"), coin("500000uact")]), "500000uact", false),
        (Some(vec![coin("4999uakt"), coin("500000uact")]), "500000uact", true),
        (Some(vec![coin("9000000uakt"), coin("499999uact")]), "500000uact", true),
    ] {
        let found = codes(|world| {
            world.wallet = wallet.clone();
            world.deposit = coin(deposit);
        });
        assert_eq!(found == ["wallet"], refused, "{wallet:?}, {deposit}");
    }
    let mut world = World::new();
    world.wallet = Some(vec![coin("7uakt")]);
    let refusals = world.policy.refusals(&world.ask(), &world.facts());
    assert_eq!(refusals, [Refusal::Wallet { needs: coin("505000uakt"), has: 7 }]);
    assert_eq!(
        refusals[0].to_string(),
        "a bid needs 505000uakt for deposit and fee, the wallet has 7"
    );
}

#[test]
fn an_order_must_be_able_to_pay_the_floor() {
    // The order pays at most 100 uact per block.
    for (denom, floor, refused) in [
        ("uact", floor("100", None), false),
        ("uact", floor("100.000000000000000001", None), true),
        ("uakt", floor("1000000", None), false),
        ("uact", floor("0", Some(("1000", 10))), false),
        ("uact", floor("0", Some(("1000.1", 10))), true),
        ("uact", floor("101", Some(("1000", 10))), true),
        ("uact", floor("0", Some(("1000", u64::MAX))), false),
    ] {
        let found = codes(|world| {
            world.policy.floors = [(denom.parse().unwrap(), floor)].into();
        });
        assert_eq!(found == ["pays-too-little"], refused, "{denom} {floor:?}");
    }
}

#[test]
fn a_price_lies_between_the_floor_and_what_the_order_pays() {
    let mut world = World::new();
    world.policy.floors = [("uact".parse().unwrap(), floor("10", Some(("200", 10))))].into();
    let price = |text: &str| text.parse::<DecCoin>().unwrap();
    for (text, expected) in [
        ("100uact", Ok(())),
        ("20uact", Ok(())),
        ("100.000000000000000001uact", Err("price-above-maximum")),
        ("19.999999999999999999uact", Err("price-below-floor")),
        ("0uact", Err("price-zero")),
        ("50uakt", Err("price-other-denom")),
    ] {
        let result = check_price(&world.spec, &world.policy, &price(text));
        assert_eq!(result.map_err(|decline| decline.code()), expected, "{text}");
    }
    let decline = check_price(&world.spec, &world.policy, &price("15uact")).unwrap_err();
    assert_eq!(
        decline.to_string(),
        "the price 15.000000000000000000uact per block is below the floor of 10.000000000000000000 and 200.000000000000000000 in 10 blocks"
    );
}
