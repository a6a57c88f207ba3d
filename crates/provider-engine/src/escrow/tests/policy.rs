use std::time::Duration;

use super::{address, alone, dec, dec_coin, lease_of, ours, paid, payment, settings, us};
use crate::chain::Head;
use crate::escrow::plan::{Pace, Plan, seed};
use crate::escrow::{Forecast, Settings, WithdrawReason};
use crate::time::BlockTime;
use akash_types::Denom;

const DAY: u64 = 24 * 60 * 60;
/// Blocks of a day and of an eighth of it, at 6.5 s.
const DAY_BLOCKS: u64 = 13_292;
const EIGHTH: u64 = DAY_BLOCKS / 8;

fn denom(text: &str) -> Denom {
    text.parse().unwrap()
}

/// The next withdrawal of a lone lease that was last settled at height 0.
fn next(rate: &str, funds: &str, settings: &Settings) -> Option<(u64, WithdrawReason)> {
    let facts = alone(7, 0, funds, rate);
    let forecast = Forecast::new(&facts.account.unwrap(), &facts.leases, &facts.payments);
    let plan = Plan::new(&forecast, &[(ours(7), 0)], settings, &Pace::default());
    plan.next.map(|due| (due.at, due.why(&forecast, due.at).unwrap()))
}

#[test]
fn fees_are_weighed_by_the_price_of_akt_and_one_beyond_counting_is_never_worth_it() {
    let mut settings = settings();
    let fees = |settings: &Settings, factor, of| settings.fees(factor, &denom(of));
    assert_eq!(fees(&settings, 1, "uact"), dec("2808"));
    assert_eq!(fees(&settings, 20, "uact"), dec("56160"));
    settings.akt_price = Some(dec("0.5"));
    assert_eq!(fees(&settings, 20, "uact"), dec("28080"));
    assert_eq!(fees(&settings, 20, "uakt"), dec("56160"));
    assert_eq!(fees(&settings, 20, "ibc/FF"), dec("56160"));
    settings.fee = akash_types::Coin::new(denom("uakt"), u128::MAX);
    for of in ["uakt", "uact"] {
        assert!(fees(&settings, 20, of) > dec("100000000000000000000"), "{of}");
    }
}

#[test]
fn money_is_fetched_when_it_is_worth_it_or_old_enough() {
    // Fee 2808: worth it at 2808000, not for age below 56160.
    let settings = settings();
    let worth = |amount: &str| WithdrawReason::Worth { accrued: dec_coin(amount) };
    let age = |amount: &str| WithdrawReason::Age { accrued: dec_coin(amount), since: 0 };
    let plenty = "100000000000uact";
    for (rate, expected) in [
        ("500uact", (5_616, worth("2808000uact"))),
        ("2808uact", (1_000, worth("2808000uact"))),
        // Dearer than the fee in every block: not more often than accounts are read (92 blocks).
        ("3000000uact", (92, worth("276000000uact"))),
        ("10uact", (DAY_BLOCKS, age("132920uact"))),
        ("4uact", (56_160 / 4, age("56160uact"))),
        ("0.1uact", (561_600, age("56160uact"))),
    ] {
        assert_eq!(next(rate, plenty, &settings), Some(expected), "{rate}");
    }
    let mut never = settings;
    never.withdraw_every = Duration::ZERO;
    assert_eq!(next("1uact", plenty, &never), Some((2_808_000, worth("2808000uact"))));
}

#[test]
fn what_is_due_shortly_before_the_end_is_fetched_with_it() {
    let settings = settings();
    // 500 per block are worth the fee after 5616 blocks; the lead is 30.
    assert!(next("500uact", "2825000uact", &settings).is_some());
    assert_eq!(next("500uact", "2815000uact", &settings), None);
}

#[test]
fn the_longest_wait_is_spread_by_lease() {
    let settings = settings();
    let mut heights: Vec<u64> = Vec::new();
    for dseq in 1..=64 {
        let facts = alone(dseq, 0, "100000000uact", "10uact");
        let forecast = Forecast::new(&facts.account.unwrap(), &facts.leases, &facts.payments);
        let own = [(ours(dseq), seed(&ours(dseq)))];
        let plan = Plan::new(&forecast, &own, &settings, &Pace::default());
        assert_eq!(plan, Plan::new(&forecast, &own, &settings, &Pace::default()));
        heights.push(plan.next.unwrap().at);
    }
    assert!(heights.iter().all(|at| (DAY_BLOCKS - EIGHTH..=DAY_BLOCKS).contains(at)));
    let (first, last) = (heights.iter().min().unwrap(), heights.iter().max().unwrap());
    assert!(last - first > EIGHTH / 2, "{first} to {last}");
    heights.sort_unstable();
    heights.dedup();
    assert!(heights.len() > 48, "{} of 64", heights.len());
}

#[test]
fn our_part_of_a_shared_account_is_secured_before_it_runs_dry() {
    let mut settings = settings();
    settings.withdraw_every = Duration::ZERO;
    let (small, large, other) = (ours(7), lease_of(7, 2, us()), lease_of(7, 3, address(5)));
    let plan = |settled_at: u64, leases: &[_]| {
        let account = super::account(7, settled_at, &["1000000uact"]);
        let payments = [payment(small, "10uact", "0", 0), payment(large, "90uact", "0", 0)];
        let forecast = Forecast::new(&account, leases, &payments);
        let plan = Plan::new(&forecast, &[(small, 0), (large, 0)], &settings, &Pace::default());
        plan.next.map(|due| (due.at, due.lease, due.why(&forecast, due.at).unwrap()))
    };
    let shared = [paid(small, "10uact"), paid(large, "90uact"), paid(other, "100uact")];
    let (accrued, dry_at) = (dec_coin("447390uact"), 5_001);
    let why = WithdrawReason::NearlyDry { accrued, dry_at };
    assert_eq!(plan(0, &shared), Some((4_971, large, why)));
    // Only ours: whoever of us is paid, we are.
    assert!(plan(0, &shared[..2]).is_none());
    // Settled within the lead already: `settled_at` is what runs, the account is as full.
    settings.dry_lead = 5_001;
    let account = super::account(7, 10, &["1000000uact"]);
    let forecast = Forecast::new(&account, &shared, &[]);
    let plan = Plan::new(&forecast, &[(small, 0), (large, 0)], &settings, &Pace::default());
    assert_eq!(plan.next, None);
}

#[test]
fn the_pace_of_blocks_is_the_chains_own() {
    let mut pace = Pace::default();
    assert_eq!(pace.blocks(Duration::from_secs(DAY)), DAY_BLOCKS);
    assert_eq!(pace.blocks(Duration::ZERO), 1);
    let head = |height, time| Head { height, time: BlockTime::from_unix(time) };
    pace.see(head(1_000, 50_000));
    pace.see(head(1_099, 50_000 + 99 * 5));
    assert_eq!(pace.blocks(Duration::from_secs(DAY)), DAY_BLOCKS);
    pace.see(head(1_100, 50_000 + 100 * 5));
    assert_eq!(pace.blocks(Duration::from_secs(100)), 20);
    // A halt of a day within the sample, and a time that runs backwards, are not the new pace.
    pace.see(head(1_200, 51_000 + DAY));
    assert_eq!(pace.blocks(Duration::from_secs(100)), 10);
    pace.see(head(1_300, 0));
    assert_eq!(pace.blocks(Duration::from_secs(100)), 20);
}
