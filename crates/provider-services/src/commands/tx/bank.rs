//! `tx bank`: coins from account to account.

use akash_chain::tx::Message;
use akash_chain::tx::message::bank::send;
use akash_types::{Address, Coin};
use anyhow::{Context, bail};
use clap::{Args, Subcommand};

use super::session::Session;
use crate::chain::values;

const HELP: &str = "\
Examples:
  provider-services tx bank send akash1… 5akt --from faucet
  provider-services tx bank send faucet akash1… 5000000uakt";

const USAGE: &str = "provider-services tx bank send [OPTIONS] [FROM] <TO> <COINS>";

#[derive(Debug, Args)]
#[command(after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Bank {
    #[command(subcommand)]
    command: BankCommand,
}

#[derive(Debug, Subcommand)]
enum BankCommand {
    /// Send coins to an account
    #[command(after_help = HELP, override_usage = USAGE)]
    Send(Send),
}

#[derive(Debug, Args)]
pub(super) struct Send {
    /// Who sends (or --from), who receives, and coins with commas between them
    #[arg(value_name = "WORDS", required = true, num_args = 2..=3)]
    words: Vec<String>,
}

impl Bank {
    /// The key that is named before the account that receives, if there is one.
    pub(super) fn from(&self) -> Option<&str> {
        let BankCommand::Send(args) = &self.command;
        match args.words.as_slice() {
            [from, _, _] => Some(from),
            _ => None,
        }
    }

    pub(super) fn message(&self, session: &Session<'_>) -> anyhow::Result<Message> {
        let BankCommand::Send(args) = &self.command;
        let ([_, to, coins] | [to, coins]) = args.words.as_slice() else {
            bail!("expected who receives, and how much");
        };
        let to: Address = to.parse().context("who receives")?;
        let coins: Result<Vec<Coin>, String> = coins.split(',').map(values::coin).collect();
        let coins = coins.map_err(anyhow::Error::msg).context("how much")?;
        Ok(send(session.from(), to, coins)?)
    }
}
