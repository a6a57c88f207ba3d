//! `tx escrow`: money that leases are paid from.

use akash_chain::tx::Message;
use akash_chain::tx::message::escrow::deposit;
use akash_types::{Coin, Denom, Deposit, DepositSource, EscrowAccountId};
use anyhow::Context;
use clap::{Args, Subcommand};

use super::session::Session;
use crate::chain::values;
use crate::commands::ids::DeploymentFlags;

const HELP: &str = "\
Examples:
  provider-services tx escrow deposit deployment 5act --dseq 101 --from tenant
  provider-services tx escrow deposit deployment 5act --dseq 101 --owner akash1… --from friend";

#[derive(Debug, Args)]
#[command(after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Escrow {
    #[command(subcommand)]
    command: EscrowCommand,
}

#[derive(Debug, Subcommand)]
enum EscrowCommand {
    /// Add money to a deployment
    #[command(after_help = HELP)]
    Deposit(DepositArgs),
}

#[derive(Debug, Args)]
struct DepositArgs {
    /// What it is added to
    #[arg(value_name = "SCOPE", value_parser = ["deployment"])]
    scope: String,
    /// How much
    #[arg(value_name = "COIN", value_parser = values::coin)]
    amount: Coin,
    #[command(flatten)]
    id: DeploymentFlags,
    #[command(flatten)]
    sources: SourceFlags,
}

impl Escrow {
    pub(super) fn message(&self, session: &Session<'_>) -> anyhow::Result<Message> {
        let EscrowCommand::Deposit(args) = &self.command;
        let id = args.id.id(Some(session.from()))?;
        let money = args.sources.deposit(args.amount.clone())?;
        Ok(deposit(session.from(), EscrowAccountId::Deployment(id), money)?)
    }
}

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
