//! `tx …`: transactions, from flags to what a block says of them.
//!
//! Each file turns flags into messages; [`send`] does the rest, the same way for all.

mod args;
mod audit;
mod authz;
mod bank;
mod cert;
mod deployment;
mod escrow;
mod feegrant;
mod file;
mod given;
mod market;
pub(crate) mod provider;
mod send;
mod session;

use std::process::ExitCode;

use akash_chain::tx::Message;
use clap::{Args, Subcommand};

use crate::app::block_on;
use crate::console::Streams;
use crate::surroundings::Surroundings;

pub(crate) use deployment::least_deposit;
pub(crate) use send::response_document;

use args::TxArgs;
use given::GivenCommand;
use session::Session;

const HELP: &str = "\
A transaction costs a fee, is asked about unless -y is given, and waited for until it is in a
block. The result goes to standard output; one that failed ends with exit code 1.

Examples:
  provider-services tx deployment create deploy.yaml --from tenant --chain-id akashnet-2
  provider-services tx market lease create --dseq 101 --provider akash1… --from tenant -y
  provider-services tx bank send akash1… 5akt --from faucet --generate-only";

/// `tx` with what holds for all of its commands.
#[derive(Debug, Args)]
#[command(after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Tx {
    #[command(flatten)]
    args: TxArgs,
    #[command(subcommand)]
    command: TxCommand,
}

#[derive(Debug, Subcommand)]
enum TxCommand {
    #[command(flatten)]
    Made(MessageCommand),
    #[command(flatten)]
    Given(GivenCommand),
}

/// Commands that make messages.
#[derive(Debug, Subcommand)]
enum MessageCommand {
    /// Attributes that auditors sign
    Audit(audit::Audit),
    /// Grants that let others act in one's name
    Authz(authz::Authz),
    /// Coins from account to account
    Bank(bank::Bank),
    /// Certificates of accounts
    Cert(cert::Cert),
    /// Deployments of tenants
    Deployment(deployment::Deployment),
    /// Money in escrow
    Escrow(escrow::Escrow),
    /// Grants that pay others' fees
    Feegrant(feegrant::Feegrant),
    /// Bids and leases
    Market(market::Market),
    /// The entry of a provider
    Provider(provider::Provider),
}

pub(crate) fn run(
    tx: &Tx,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    block_on(async {
        let command = match &tx.command {
            TxCommand::Given(command) => {
                return given::run(command, &tx.args, surroundings, streams).await;
            }
            TxCommand::Made(command) => command,
        };
        let from = match command {
            MessageCommand::Bank(bank) => bank.from(),
            _ => None,
        };
        let session = Session::open(&tx.args, from, surroundings, streams.console)?;
        if let MessageCommand::Cert(cert) = command
            && let Some(generate) = cert.generates()
        {
            return cert::generate(generate, &session, streams);
        }
        let messages = messages(command, &session, streams).await?;
        send::send(&session, &messages, streams).await
    })
}

async fn messages(
    command: &MessageCommand,
    session: &Session<'_>,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Vec<Message>> {
    let message = match command {
        MessageCommand::Audit(audit) => audit.message(session).await,
        MessageCommand::Authz(authz) => authz.message(session, streams),
        MessageCommand::Bank(bank) => bank.message(session),
        MessageCommand::Cert(cert) => cert.message(session).await,
        MessageCommand::Deployment(deployment) => deployment.message(session, streams).await,
        MessageCommand::Escrow(escrow) => escrow.message(session),
        MessageCommand::Feegrant(feegrant) => feegrant.message(session),
        MessageCommand::Market(market) => market.message(session).await,
        MessageCommand::Provider(provider) => provider.message(session, streams),
    }?;
    Ok(vec![message])
}
