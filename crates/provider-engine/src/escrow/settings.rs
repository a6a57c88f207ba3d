//! What an operator can choose about money.

use std::time::Duration;

use akash_types::{Address, Backoff, Coin, Dec, Denom};

/// What an operator can choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Who we are; leases of others are never touched.
    pub provider: Address,
    /// How often an account is read at least (`lease-funds-monitor-interval`).
    pub check_every: Duration,
    /// How long earned money waits at most (`withdrawal-period`); zero is for ever.
    pub withdraw_every: Duration,
    /// Fee of a withdrawal that is alone in its transaction.
    pub fee: Coin,
    /// Money is withdrawn as soon as it is this many times the fee.
    pub worth_factor: u32,
    /// Money is not withdrawn for its age while it is less than this many times the fee: its
    /// inverse is the share that is lost to fees at most, but for closing what is dry.
    pub least_factor: u32,
    /// How many blocks before an account runs dry our part is secured.
    pub dry_lead: u64,
    /// Withdrawals due within this time go along with one that is due.
    pub batch_window: Duration,
    /// Below this much of the fee's denomination the operator is warned (`minimum-balance`).
    pub minimum_balance: u128,
    /// What one bid puts up (`bid-deposit`).
    pub bid_deposit: Coin,
    /// What must be left for fees after a bid, in the fee's denomination.
    pub fee_reserve: u128,
    /// How many accounts are read at a time.
    pub reads_at_once: usize,
    /// How long to wait for an answer before asking again.
    pub read_limit: Duration,
    /// How long to wait for the end of a withdrawal before looking for it.
    pub withdraw_limit: Duration,
    /// How failed readings and withdrawals are paced.
    pub retry: Backoff,
    /// Readings in a row that fail before an account that should be dry by now is settled without
    /// another look. Withdrawing is harmless when it is not dry after all; a lease that runs
    /// unpaid while no node answers is not.
    pub blind_after: u32,
    /// What 1 AKT is worth in USD. Read from the chain, not chosen.
    pub akt_price: Option<Dec>,
}

impl Settings {
    /// The defaults, for a provider that pays `fee` for a withdrawal and puts up `bid_deposit` for
    /// a bid.
    pub fn new(provider: Address, fee: Coin, bid_deposit: Coin) -> Self {
        Self {
            provider,
            check_every: Duration::from_secs(10 * 60),
            withdraw_every: Duration::from_secs(24 * 60 * 60),
            worth_factor: 1_000,
            least_factor: 20,
            dry_lead: 30,
            batch_window: Duration::from_secs(30 * 60),
            minimum_balance: 1_000_000,
            bid_deposit,
            fee_reserve: fee.amount().saturating_mul(10),
            fee,
            reads_at_once: 32,
            read_limit: Duration::from_secs(30),
            withdraw_limit: Duration::from_secs(10 * 60),
            retry: Backoff { first: Duration::from_secs(10), most: Duration::from_secs(10 * 60) },
            blind_after: 3,
            akt_price: None,
        }
    }

    /// `factor` times the fee in `denom`, in which a lease is paid. A fee in `uakt` is weighed
    /// against `uact`, which is worth 10⁻⁶ USD, by the chain's price of AKT. Where that is not
    /// known, and for other denominations, a unit of one counts as a unit of the other.
    pub fn fees(&self, factor: u32, denom: &Denom) -> Dec {
        let units = self.fee.amount().saturating_mul(u128::from(factor));
        let fee = i128::try_from(units).ok().and_then(Dec::checked_from_int);
        let fee = match (self.fee.denom().as_str(), denom.as_str(), self.akt_price) {
            ("uakt", "uact", Some(price)) => fee.and_then(|fee| fee.checked_mul(price)),
            _ => fee,
        };
        // A fee beyond counting is never worth it.
        fee.unwrap_or(Dec::from_scaled(i128::MAX))
    }
}
