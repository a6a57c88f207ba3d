//! `tx feegrant`: paying others' fees.

use std::time::SystemTime;

use akash_chain::tx::Message;
use akash_chain::tx::message::feegrant::{Limit, grant_allowance, revoke_allowance};
use akash_types::{Address, Coin};
use clap::{Args, Subcommand};

use super::session::Session;
use crate::chain::values;

const HELP: &str = "\
Examples:
  provider-services tx feegrant grant akash1… --spend-limit 1akt --from faucet
  provider-services tx feegrant revoke akash1… --from faucet";

#[derive(Debug, Args)]
#[command(after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Feegrant {
    #[command(subcommand)]
    command: FeegrantCommand,
}

#[derive(Debug, Subcommand)]
enum FeegrantCommand {
    /// Pay the fees of somebody
    #[command(after_help = HELP)]
    Grant(Grant),
    /// Pay the fees of somebody no longer
    #[command(after_help = HELP)]
    Revoke(Revoke),
}

#[derive(Debug, Args)]
struct Grant {
    /// Whose fees
    grantee: Address,
    /// At most this [default: no limit]
    #[arg(long, value_name = "COINS", value_delimiter = ',', value_parser = values::coin)]
    spend_limit: Vec<Coin>,
    /// Until when [default: for ever]
    #[arg(long, value_name = "TIME", value_parser = values::moment)]
    expiration: Option<SystemTime>,
    /// For messages of these types [default: for all]
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    allowed_messages: Option<Vec<String>>,
}

#[derive(Debug, Args)]
struct Revoke {
    /// Whose fees
    grantee: Address,
}

impl Feegrant {
    pub(super) fn message(&self, session: &Session<'_>) -> anyhow::Result<Message> {
        match &self.command {
            FeegrantCommand::Grant(args) => {
                let limit = Limit {
                    spend: args.spend_limit.clone(),
                    expiration: args.expiration,
                    messages: args.allowed_messages.clone(),
                };
                Ok(grant_allowance(session.from(), args.grantee, limit)?)
            }
            FeegrantCommand::Revoke(args) => Ok(revoke_allowance(session.from(), args.grantee)?),
        }
    }
}
