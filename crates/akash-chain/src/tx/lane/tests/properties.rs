//! For any interleaving of faults every intent has one effect or one reason.

use akash_types::{Outcome, Wanted};
use proptest::prelude::*;

use super::super::{Input, LaneConfig};
use super::build::{close_bid, config, create_bid, intent, transfer, withdraw};
use super::driver::Driver;

/// What every run must have kept.
fn check(driver: &Driver) -> Result<(), TestCaseError> {
    let chain = &driver.chain;
    for (id, outcome) in &driver.done {
        let executed = chain.executed.get(id).map_or(&[][..], Vec::as_slice);
        prop_assert!(executed.len() <= 1, "intent {} took effect at {:?}", id, executed);
        let wanted = chain.intents[id].wanted();
        match outcome {
            Outcome::Executed { height } => prop_assert_eq!(executed, &[*height]),
            Outcome::AlreadyHolds => {
                prop_assert!(chain.holds(&wanted, chain.height), "{} does not hold", id);
            }
            Outcome::Refused { .. } | Outcome::Forgotten | Outcome::Expired => {
                prop_assert!(executed.is_empty(), "{} was {:?} and took effect", id, outcome);
            }
            Outcome::Unknown => prop_assert_eq!(wanted, Wanted::Unverifiable),
            Outcome::Invalid { .. } => prop_assert!(false, "{} is valid", id),
        }
    }
    Ok(())
}

fn run(seed: u64, trouble: u64, restarts: u64) -> Result<(), TestCaseError> {
    // In half the runs a block has room for few transactions only.
    let block_gas = if seed.is_multiple_of(2) { 3_000_000 } else { 60_000_000 };
    let mut driver = Driver::new(LaneConfig { block_gas, ..config() }, seed, trouble);
    for dseq in 500..520 {
        driver.chain.open_bid(dseq);
    }
    driver.feed(Input::Tick);
    let mut number = 0;
    for step in 0..600 {
        if step % 40 == 0 {
            let height = driver.chain.height;
            let mut batch = Vec::new();
            for _ in 0..driver.dice.below(12) {
                number += 1;
                batch.push(intent(number, create_bid(number), height));
            }
            for other in 0..driver.dice.below(4) {
                number += 1;
                let pick = driver.dice.below(20);
                let gseq = u32::try_from(pick % 2).unwrap() + 1;
                // A transfer cannot be asked for, so nobody repeats one after a restart.
                let action = match other {
                    0 => withdraw(600 + number, 1),
                    1 if step < 400 => withdraw(700 + u64::try_from(step).unwrap(), gseq),
                    2 if restarts == 0 => transfer(number),
                    _ => close_bid(500 + number % 20),
                };
                batch.push(intent(number, action, height));
            }
            driver.submit(batch);
        }
        if restarts > 0 && driver.dice.below(600) < restarts {
            driver.restart();
        }
        driver.step();
    }
    driver.finish(20_000);
    check(&driver)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if full() { 2_000 } else { 64 }))]

    #[test]
    fn without_faults_everything_takes_effect_once(seed: u64) {
        run(seed, 0, 0)?;
    }

    #[test]
    fn with_faults_every_intent_ends_once(seed: u64, trouble in 1u64..12) {
        run(seed, trouble, 0)?;
    }

    #[test]
    fn a_lane_that_forgets_everything_repeats_nothing(seed: u64, trouble in 0u64..8) {
        run(seed, trouble, 4)?;
    }
}

fn full() -> bool {
    std::env::var_os("AKASH_TEST_FULL").is_some()
}
