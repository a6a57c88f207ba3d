//! Flags that say what is deposited, and from where.

use akash_types::{Coin, Denom, Deposit, DepositSource};
use anyhow::Context;
use clap::Args;

use crate::chain::values;

/// A deposit.
#[derive(Debug, Args)]
pub(super) struct DepositFlags {
    /// What is deposited [default: the least that the chain takes]
    #[arg(long, value_name = "COIN", value_parser = values::coin)]
    pub(super) deposit: Option<Coin>,
    #[command(flatten)]
    pub(super) sources: SourceFlags,
}

/// Where deposited money comes from.
#[derive(Debug, Args)]
pub(super) struct SourceFlags {
    /// Where it comes from, tried in this order: grant, balance
    #[arg(
        long,
        value_name = "SOURCES",
        value_delimiter = ',',
        value_parser = values::deposit_source,
        default_value = "grant,balance"
    )]
    deposit_sources: Vec<DepositSource>,
}

impl SourceFlags {
    /// A deposit of `coin`.
    pub(super) fn deposit(&self, coin: Coin) -> anyhow::Result<Deposit> {
        Deposit::new(coin, self.deposit_sources.clone()).context("--deposit-sources")
    }
}

/// The least deposit in a denomination, or else the first there is.
pub(super) fn least(deposits: Vec<Coin>, denom: &Denom) -> anyhow::Result<Coin> {
    let position = deposits.iter().position(|coin| coin.denom() == denom).unwrap_or_default();
    deposits
        .into_iter()
        .nth(position)
        .context("the chain does not say what the least deposit is: give --deposit")
}
