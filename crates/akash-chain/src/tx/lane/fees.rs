//! What is paid for transactions, and what was.

use std::collections::BTreeMap;

use akash_types::{Coin, DecCoin, Denom};

use super::super::Fee;
use super::config::LaneConfig;

const DAY: u64 = 24 * 60 * 60;

/// The price that is paid now, and the money that went.
#[derive(Debug)]
pub(super) struct Fees {
    /// What is paid, in percent of what the operator set.
    percent: u64,
    total: BTreeMap<Denom, u128>,
    today: BTreeMap<Denom, u128>,
    /// Days since 1970.
    day: u64,
}

impl Fees {
    pub(super) const fn new() -> Self {
        Self { percent: 100, total: BTreeMap::new(), today: BTreeMap::new(), day: 0 }
    }

    /// The fee for a transaction with this gas limit.
    pub(super) fn fee(&self, config: &LaneConfig, gas_limit: u64) -> Fee {
        // A fee beyond all money is left out, and the node says what it thinks of that.
        let mut amount = config.fee.fee(gas_limit).unwrap_or_default();
        if self.percent != 100 {
            let raised = |coin: &Coin| {
                let amount = coin.amount().saturating_mul(self.percent.into()).div_ceil(100);
                Coin::new(coin.denom().clone(), amount)
            };
            amount = amount.iter().map(raised).collect();
        }
        amount.retain(|coin| !coin.is_zero());
        Fee { amount, gas_limit, granter: config.fee_granter }
    }

    /// A node wants more. Whether we pay more from now on.
    pub(super) fn raise(&mut self, log: &str, cap_percent: u64) -> bool {
        let Some((got, required)) = wanted(log) else { return false };
        let needed = required.saturating_mul(self.percent.into()).div_ceil(got);
        match u64::try_from(needed) {
            Ok(needed) if needed <= cap_percent && needed > self.percent => {
                self.percent = needed;
                true
            }
            _ => false,
        }
    }

    /// A new day begins with nothing spent.
    pub(super) fn at(&mut self, unix_time: u64) {
        let day = unix_time / DAY;
        if day > self.day {
            self.day = day;
            self.today.clear();
        }
    }

    pub(super) fn spend(&mut self, fee: &Fee) {
        for coin in &fee.amount {
            for sums in [&mut self.total, &mut self.today] {
                let sum = sums.entry(coin.denom().clone()).or_default();
                *sum = sum.saturating_add(coin.amount());
            }
        }
    }

    pub(super) fn total(&self) -> Vec<Coin> {
        coins(&self.total)
    }

    pub(super) fn today(&self) -> Vec<Coin> {
        coins(&self.today)
    }
}

fn coins(sums: &BTreeMap<Denom, u128>) -> Vec<Coin> {
    sums.iter().map(|(denom, amount)| Coin::new(denom.clone(), *amount)).collect()
}

/// Reads `insufficient fees; got: 1uakt required: 5000uakt: insufficient fee`: amounts of the first
/// denomination that stands on both sides.
fn wanted(log: &str) -> Option<(u128, u128)> {
    let (_, rest) = log.split_once("got: ")?;
    let (got, rest) = rest.split_once(" required: ")?;
    let required = rest.split(':').next()?;
    let list = |text: &str| -> Vec<DecCoin> {
        text.split(',').filter_map(|coin| coin.trim().parse().ok()).collect()
    };
    let got = list(got);
    list(required).iter().find_map(|required| {
        let got = got.iter().find(|got| got.denom() == required.denom())?;
        let whole = |coin: &DecCoin| u128::try_from(coin.amount().truncate_int()).ok();
        let (got, required) = (whole(got)?, whole(required)?);
        (got > 0).then_some((got, required))
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::FeeRule;
    use super::*;

    fn config() -> LaneConfig {
        let account = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8".parse().unwrap();
        LaneConfig::new(account, FeeRule::parse("", "0.025uakt").unwrap())
    }

    fn paid(fees: &Fees, gas: u64) -> String {
        fees.fee(&config(), gas).amount.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_node_that_wants_more_gets_it_up_to_the_cap() {
        let mut fees = Fees::new();
        assert_eq!(paid(&fees, 200_000), "5000uakt");
        let log = "insufficient fees; got: 5000uakt required: 7501uakt: insufficient fee";
        assert!(fees.raise(log, 200));
        assert_eq!(paid(&fees, 200_000), "7550uakt");
        for log in [
            "insufficient fees; got: 5000uakt required: 50000uakt: insufficient fee",
            "insufficient fees; got:  required: 50000uakt: insufficient fee",
            "insufficient fees; got: 0uakt required: 5uakt: insufficient fee",
            "insufficient fees; got: 5uact required: 5uakt: insufficient fee",
            "insufficient fee",
        ] {
            assert!(!fees.raise(log, 200), "{log}");
        }
    }

    #[test]
    fn what_was_spent_today_starts_over_at_midnight() {
        let mut fees = Fees::new();
        fees.at(DAY * 10 + 5);
        fees.spend(&fees.fee(&config(), 200_000));
        fees.at(DAY * 11 - 1);
        fees.spend(&fees.fee(&config(), 400_000));
        assert_eq!(fees.today(), ["15000uakt".parse().unwrap()]);
        fees.at(DAY * 11);
        assert!(fees.today().is_empty());
        assert_eq!(fees.total(), ["15000uakt".parse().unwrap()]);
    }
}
