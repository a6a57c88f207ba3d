//! What bids have cost in fees since the day began, for `--policy-daily-fees`.

use akash_types::{Coin, Denom};

use crate::time::BlockTime;

const SECONDS_PER_DAY: u64 = 86_400;

/// Fees of bids on one day (UTC, by block time), one coin per denomination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BidFees {
    /// Days since the epoch.
    pub day: u64,
    pub paid: Vec<Coin>,
}

impl BidFees {
    /// Begins a new day if `time` is on another one.
    pub fn roll(&mut self, time: BlockTime) {
        let day = time.unix() / SECONDS_PER_DAY;
        if day != self.day {
            *self = Self { day, paid: Vec::new() };
        }
    }

    pub fn in_denom(&self, denom: &Denom) -> u128 {
        self.paid.iter().find(|coin| coin.denom() == denom).map_or(0, Coin::amount)
    }

    pub fn add(&mut self, fee: Coin) {
        match self.paid.iter_mut().find(|coin| coin.denom() == fee.denom()) {
            Some(coin) => {
                let sum = coin.amount().saturating_add(fee.amount());
                *coin = Coin::new(fee.denom().clone(), sum);
            }
            None => self.paid.push(fee),
        }
    }
}
