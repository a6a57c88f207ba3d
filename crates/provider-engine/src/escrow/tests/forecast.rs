use proptest::prelude::*;

use super::{account, address, dec, dec_coin, lease_of, ours, paid, payment, us};
use crate::escrow::Forecast;
use akash_types::{Dec, DecCoin, Denom, LeaseId};

fn uact() -> Denom {
    "uact".parse().unwrap()
}

fn one(funds: &str, rate: &str, balance: &str, settled_at: u64) -> Forecast {
    let account = account(101, settled_at, &[funds]);
    let lease = ours(101);
    Forecast::new(&account, &[paid(lease, rate)], &[payment(lease, rate, balance, 0)])
}

/// The recorded lease: rate 500, created at 112, 5000000 deposited, withdrawn at 117, closed at 247.
#[test]
fn the_recorded_lease_is_forecast_to_the_unit() {
    let created = one("5000000uact", "500uact", "0", 112);
    assert_eq!(created.accrued(ours(101), 117), Some(dec_coin("2500uact")));
    assert_eq!(created.left(&uact(), 117), Some(dec("4997500")));
    let withdrawn = one("4997500uact", "500uact", "0", 117);
    assert_eq!(withdrawn.accrued(ours(101), 247), Some(dec_coin("65000uact")));
    assert_eq!(withdrawn.left(&uact(), 247), Some(dec("4932500")));
    // 5000000 ÷ 500 = 10000 blocks are paid, the one after them is not.
    assert_eq!(created.dry_at(), Some(112 + 10_001));
    assert_eq!(withdrawn.dry_at(), created.dry_at());
    assert_eq!(created.blocks_left(112), Some(10_000));
    assert_eq!(created.blocks_left(10_112), Some(0));
    assert_eq!(created.blocks_left(20_000), Some(0));
}

#[test]
fn an_account_runs_dry_where_the_chain_says() {
    for (funds, rate, settled_at, dry_at) in [
        ("1000uact", "500uact", 10, Some(13)),
        ("999uact", "500uact", 10, Some(12)),
        ("0uact", "500uact", 10, Some(11)),
        ("-1uact", "500uact", 10, Some(10)),
        // Only whole units are owed: 3 × 0.4 is 1, so 2.5 blocks are 3 in truth.
        ("1uact", "0.4uact", 0, Some(5)),
        ("0uact", "0.4uact", 0, Some(3)),
        ("0uact", "0.000000000000000001uact", 0, Some(1_000_000_000_000_000_000)),
        // A rate of zero divides nothing.
        ("1000uact", "0uact", 10, None),
        // No funds of the payment's denomination are no funds.
        ("1000uakt", "500uact", 10, Some(11)),
        ("1000ibc/170C677610AC31DF", "500ibc/170C677610AC31DF", 10, Some(13)),
    ] {
        assert_eq!(one(funds, rate, "0", settled_at).dry_at(), dry_at, "{funds} at {rate}");
    }
}

#[test]
fn every_lease_of_the_deployment_is_paid_from_the_account() {
    let account = account(7, 100, &["1000uact"]);
    let (mine, other) = (ours(7), lease_of(7, 2, address(5)));
    let leases = [paid(mine, "30uact"), paid(other, "70uact")];
    let forecast = Forecast::new(&account, &leases, &[payment(mine, "30uact", "2.5", 0)]);
    assert_eq!(forecast.dry_at(), Some(111));
    assert_eq!(forecast.accrued(mine, 104), Some(dec_coin("122.5uact")));
    assert_eq!(forecast.left(&uact(), 104), Some(dec("600")));
    // The same lease named twice is paid once.
    let twice = [paid(mine, "30uact"), paid(mine, "30uact"), paid(other, "70uact")];
    assert_eq!(Forecast::new(&account, &twice, &[]).dry_at(), Some(111));
}

#[test]
fn who_is_first_by_key_is_paid_first_when_it_runs_short() {
    let account = account(7, 100, &["1000uact"]);
    let (first, second) = (lease_of(7, 1, us()), lease_of(7, 2, us()));
    let leases = [paid(second, "50uact"), paid(first, "50uact")];
    let forecast = Forecast::new(&account, &leases, &[]);
    assert_eq!(forecast.accrued(first, 115), Some(dec_coin("750uact")));
    assert_eq!(forecast.accrued(second, 115), Some(dec_coin("250uact")));
    assert_eq!(forecast.accrued(second, 200), Some(dec_coin("0uact")));
}

#[test]
fn the_denomination_that_runs_out_first_ends_the_account() {
    let account = account(7, 100, &["1000uact", "90uakt"]);
    let leases = [paid(lease_of(7, 1, us()), "10uact"), paid(lease_of(7, 2, us()), "10uakt")];
    let forecast = Forecast::new(&account, &leases, &[]);
    assert_eq!(forecast.dry_at(), Some(110));
    assert_eq!(forecast.accrued(lease_of(7, 2, us()), 200), Some(dec_coin("90uakt")));
    assert_eq!(forecast.accrued(lease_of(7, 1, us()), 150), Some(dec_coin("500uact")));
}

#[test]
fn the_balance_tells_since_when_nothing_was_paid_out() {
    let forecast = one("1000000uact", "500uact", "2500.7", 117);
    assert_eq!(forecast.unpaid_since(ours(101)), Some(112));
    assert_eq!(forecast.reaches(ours(101), |_| dec("2500")), Some(117));
    assert_eq!(forecast.reaches(ours(101), |_| dec("3000.7")), Some(118));
    assert_eq!(forecast.reaches(ours(101), |_| dec("3000.8")), Some(119));
    assert_eq!(one("1uact", "0uact", "0", 5).unpaid_since(ours(101)), None);
    assert_eq!(one("1uact", "0uact", "0", 5).reaches(ours(101), |_| dec("1")), None);
}

#[test]
fn rates_beyond_counting_are_dry_and_not_a_panic() {
    let rate = "170000000000000000000uact";
    let account = account(7, 100, &[rate]);
    let leases = [paid(lease_of(7, 1, us()), rate), paid(lease_of(7, 2, us()), rate)];
    let forecast = Forecast::new(&account, &leases, &[]);
    assert_eq!(forecast.dry_at(), Some(101));
    assert_eq!(forecast.accrued(lease_of(7, 1, us()), u64::MAX), Some(dec_coin(rate)));
    assert_eq!(forecast.left(&uact(), u64::MAX), Some(Dec::ZERO));
}

/// Settles as the chain does, block after block it was not settled in: one payment after another.
fn settle(funds: i128, rates: &[i128], blocks: u64) -> (Vec<i128>, bool) {
    let one = Dec::ONE.scaled();
    let (mut left, mut overdrawn) = (funds, false);
    let mut paid = Vec::new();
    for rate in rates {
        let due = rate * i128::from(blocks) / one * one;
        let part = due.min(left);
        overdrawn |= part < due;
        left -= part;
        paid.push(part);
    }
    (paid, overdrawn)
}

prop_compose! {
    fn case()(
        funds in 0_i128..3_000_000_000_000_000_000_000,
        rates in prop::collection::vec(1_i128..40_000_000_000_000_000_000, 1..5),
        settled_at in 0_u64..1_000,
    ) -> (i128, Vec<i128>, u64) {
        (funds, rates, settled_at)
    }
}

fn forecast((funds, rates, settled_at): &(i128, Vec<i128>, u64)) -> (Forecast, Vec<LeaseId>) {
    let mut account = account(7, *settled_at, &["0uact"]);
    account.funds[0].amount = Dec::from_scaled(*funds);
    let leases: Vec<_> =
        (1..=u32::try_from(rates.len()).unwrap()).map(|g| lease_of(7, g, us())).collect();
    let paid: Vec<_> = leases
        .iter()
        .zip(rates)
        .map(|(lease, rate)| crate::chain::PaidLease {
            lease: *lease,
            rate: DecCoin::new(uact(), Dec::from_scaled(*rate)).unwrap(),
        })
        .collect();
    (Forecast::new(&account, &paid, &[]), leases)
}

proptest! {
    #[test]
    fn what_is_forecast_is_what_settling_pays(case in case(), blocks in 0_u64..5_000) {
        let (forecast, leases) = forecast(&case);
        let (paid, overdrawn) = settle(case.0, &case.1, blocks);
        let height = case.2 + blocks;
        for (lease, paid) in leases.iter().zip(&paid) {
            let accrued = forecast.accrued(*lease, height).unwrap();
            prop_assert_eq!(accrued.amount(), Dec::from_scaled(*paid));
        }
        let left = forecast.left(&uact(), height).unwrap();
        prop_assert!(!left.is_negative());
        if !overdrawn {
            prop_assert_eq!(left.scaled(), case.0 - paid.iter().sum::<i128>());
        }
        prop_assert_eq!(forecast.dry_at().unwrap() <= height, overdrawn);
    }

    #[test]
    fn it_is_dry_at_the_first_height_that_is_not_covered(case in case()) {
        let (forecast, _) = forecast(&case);
        let blocks = forecast.dry_at().unwrap() - case.2;
        prop_assert!(settle(case.0, &case.1, blocks).1);
        prop_assert!(blocks == 0 || !settle(case.0, &case.1, blocks - 1).1);
    }

    #[test]
    fn alone_one_earns_more_with_time_and_lasts_longer_with_funds(
        case in case(), more in 1_i128..1_000_000_000_000_000_000_000, early in 0_u64..2_000, later in 0_u64..2_000,
    ) {
        let case = (case.0, vec![case.1[0]], case.2);
        let (forecast, leases) = forecast(&case);
        let at = |blocks| forecast.accrued(leases[0], case.2 + blocks).unwrap().amount();
        prop_assert!(!at(early).is_negative());
        prop_assert!(at(early) <= at(early + later));
        let (richer, _) = self::forecast(&(case.0 + more, case.1.clone(), case.2));
        prop_assert!(forecast.dry_at() <= richer.dry_at());
        let left = |height| forecast.blocks_left(height).unwrap();
        prop_assert!(left(case.2 + early) >= left(case.2 + early + later));
    }

    #[test]
    fn the_height_for_an_amount_is_the_first_at_which_it_is_earned(case in case(), amount in 0_u64..10_000) {
        let case = (i128::MAX, vec![case.1[0]], case.2);
        let (forecast, leases) = forecast(&case);
        let blocks = forecast.reaches(leases[0], |_| amount.into()).unwrap() - case.2;
        let whole = i128::from(amount) * Dec::ONE.scaled();
        prop_assert!(case.1[0] * i128::from(blocks) >= whole);
        prop_assert!(blocks == 0 || case.1[0] * i128::from(blocks - 1) < whole);
    }
}
