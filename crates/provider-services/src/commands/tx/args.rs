//! Flags of every transaction.

use std::str::FromStr;

use akash_chain::tx::{BroadcastMode, FeeRule, GasAdjustment};
use akash_types::Address;
use anyhow::Context;
use clap::{Args, ValueEnum};

use crate::chain::KeyringArgs;

/// What a unit of gas costs unless somebody says otherwise.
const GAS_PRICES: &str = "0.025uakt";
const HEADING: &str = "Transaction options";

/// How a transaction is made and sent.
#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct TxArgs {
    /// Name or address of the key that signs
    #[arg(long, global = true, value_name = "KEY")]
    pub(super) from: Option<String>,
    #[command(flatten)]
    pub(super) keyring: KeyringArgs,
    /// The chain that the transaction is for
    #[arg(long, global = true, value_name = "ID")]
    pub(super) chain_id: Option<String>,
    /// Address of the node's gRPC port, for queries
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub(super) grpc_addr: Option<String>,
    /// Talk gRPC in the clear
    #[arg(long, global = true)]
    pub(super) grpc_insecure: bool,
    /// Gas limit; auto takes what a simulation uses, times --gas-adjustment
    #[arg(long, global = true, value_name = "GAS", default_value = "auto")]
    pub(super) gas: Gas,
    /// By how much the gas limit exceeds what a simulation uses
    #[arg(long, global = true, value_name = "FACTOR", default_value_t)]
    pub(super) gas_adjustment: GasAdjustment,
    /// Price of a unit of gas [default: 0.025uakt, unless --fees is given]
    #[arg(long, global = true, value_name = "COINS")]
    pub(super) gas_prices: Option<String>,
    /// What is paid for the whole transaction, instead of a price for gas
    #[arg(long, global = true, value_name = "COINS")]
    pub(super) fees: Option<String>,
    /// Account that pays the fee by a grant
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub(super) fee_granter: Option<Address>,
    /// Accepted, without effect
    #[arg(long, global = true, value_name = "ADDRESS", hide = true)]
    fee_payer: Option<String>,
    /// A note that everyone can read on chain
    #[arg(long, global = true, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(super) note: String,
    /// Last height at which the transaction may be included; 0 is no limit
    #[arg(long, global = true, value_name = "HEIGHT", default_value_t = 0)]
    pub(super) timeout_height: u64,
    /// Number of the account; asked from the node unless given
    #[arg(short, long, global = true, value_name = "N")]
    pub(super) account_number: Option<u64>,
    /// Sequence of the account; asked from the node unless given
    #[arg(short, long, global = true, value_name = "N")]
    pub(super) sequence: Option<u64>,
    /// Wait until it is in a block, or checked (sync), or for nothing (async)
    #[arg(short, long, global = true, value_name = "MODE", default_value = "block")]
    pub(super) broadcast_mode: Mode,
    /// Simulate only, and say how much gas it would be given
    #[arg(long, global = true)]
    pub(super) dry_run: bool,
    /// Print the unsigned transaction and do not send it
    #[arg(long, global = true)]
    pub(super) generate_only: bool,
    /// Ask no node: print the signed transaction and do not send it
    #[arg(long, global = true)]
    pub(super) offline: bool,
    /// Do not ask before signing
    #[arg(short, long, global = true)]
    pub(super) yes: bool,
    /// How it is signed
    #[arg(long, global = true, value_name = "MODE", value_parser = ["direct"], default_value = "direct")]
    sign_mode: String,
    /// Format of the result
    #[arg(short, long, global = true, value_name = "FORMAT", default_value = "json")]
    pub(super) output: TxFormat,
}

/// How a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TxFormat {
    /// One line of JSON
    Json,
    /// YAML
    Text,
}

/// How long to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Mode {
    Block,
    Sync,
    Async,
}

impl From<Mode> for BroadcastMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Block => Self::Commit,
            Mode::Sync => Self::Sync,
            Mode::Async => Self::Async,
        }
    }
}

/// How much gas a transaction is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gas {
    /// What a simulation says.
    Auto,
    /// This much.
    Limit(u64),
}

impl FromStr for Gas {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            // What the Go program reads an empty one as is not worth keeping.
            "auto" | "" => Ok(Self::Auto),
            digits => digits.parse().map(Self::Limit).map_err(|_| "expected auto or a number"),
        }
    }
}

impl TxArgs {
    /// How the fee comes about.
    pub(super) fn fee_rule(&self) -> anyhow::Result<FeeRule> {
        let fees = self.fees.as_deref().unwrap_or_default();
        let default = if fees.is_empty() { GAS_PRICES } else { "" };
        let prices = self.gas_prices.as_deref().unwrap_or(default);
        FeeRule::parse(fees, prices).context("--fees or --gas-prices")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gas_is_automatic_or_a_number() {
        assert_eq!("auto".parse(), Ok(Gas::Auto));
        assert_eq!("200000".parse(), Ok(Gas::Limit(200_000)));
        for bad in ["-1", "1.5", "lots"] {
            assert!(bad.parse::<Gas>().is_err(), "{bad}");
        }
    }
}
