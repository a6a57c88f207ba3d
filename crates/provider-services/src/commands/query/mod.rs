//! `query …`: what the chain knows.
//!
//! Each file turns flags into a request; the answer is printed as it came, or as a table.

mod args;
mod audit;
mod auth;
mod authz;
mod bank;
mod cert;
mod deployment;
mod escrow;
mod feegrant;
mod market;
mod node;
mod provider;
mod remaining;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::app::block_on;
use crate::chain::Network;
use crate::console::Streams;
use crate::surroundings::Surroundings;

use args::{Found, QueryArgs};

const HELP: &str = "\
Examples:
  provider-services query provider get akash1… -o json
  provider-services query market lease list --provider akash1… --state active -o table
  provider-services q bank balances akash1… --node https://rpc.example.com:443";

/// `query` with what holds for all of its commands.
#[derive(Debug, Args)]
#[command(after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Query {
    #[command(flatten)]
    args: QueryArgs,
    #[command(subcommand)]
    command: QueryCommand,
}

#[derive(Debug, Subcommand)]
enum QueryCommand {
    /// Attributes that auditors signed
    #[command(subcommand, after_help = audit::HELP, subcommand_required = true, arg_required_else_help = true)]
    Audit(audit::AuditQuery),
    /// Accounts
    #[command(subcommand, after_help = auth::HELP, subcommand_required = true, arg_required_else_help = true)]
    Auth(auth::AuthQuery),
    /// Grants that let others act in one's name
    #[command(subcommand, after_help = authz::HELP, subcommand_required = true, arg_required_else_help = true)]
    Authz(authz::AuthzQuery),
    /// Balances
    #[command(subcommand, after_help = bank::HELP, subcommand_required = true, arg_required_else_help = true)]
    Bank(bank::BankQuery),
    /// A block
    Block(node::Block),
    /// Certificates of accounts
    #[command(subcommand, after_help = cert::HELP, subcommand_required = true, arg_required_else_help = true)]
    Cert(cert::CertQuery),
    /// Deployments of tenants
    #[command(subcommand, after_help = deployment::HELP, subcommand_required = true, arg_required_else_help = true)]
    Deployment(deployment::DeploymentQuery),
    /// Money in escrow
    #[command(subcommand, after_help = escrow::HELP, subcommand_required = true, arg_required_else_help = true)]
    Escrow(escrow::EscrowQuery),
    /// Grants that pay others' fees
    #[command(subcommand, after_help = feegrant::HELP, subcommand_required = true, arg_required_else_help = true)]
    Feegrant(feegrant::FeegrantQuery),
    /// Orders, bids and leases
    #[command(subcommand, after_help = market::HELP, subcommand_required = true, arg_required_else_help = true)]
    Market(market::MarketQuery),
    /// Providers
    #[command(subcommand, after_help = provider::HELP, subcommand_required = true, arg_required_else_help = true)]
    Provider(provider::ProviderQuery),
    /// A transaction in a block, by its hash
    Tx(node::Tx),
    /// Transactions in blocks, by what they did
    Txs(node::Txs),
}

pub(crate) fn run(
    query: &Query,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let found = block_on(async {
        let network = query.args.network(surroundings)?;
        ask(&query.command, &network).await
    })?;
    let text = found.render(query.args.output, &streams.stdout_palette);
    streams.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

async fn ask(command: &QueryCommand, network: &Network) -> anyhow::Result<Found> {
    match command {
        QueryCommand::Audit(query) => query.ask(network).await,
        QueryCommand::Auth(query) => query.ask(network).await,
        QueryCommand::Authz(query) => query.ask(network).await,
        QueryCommand::Bank(query) => query.ask(network).await,
        QueryCommand::Block(query) => query.ask(network).await,
        QueryCommand::Cert(query) => query.ask(network).await,
        QueryCommand::Deployment(query) => query.ask(network).await,
        QueryCommand::Escrow(query) => query.ask(network).await,
        QueryCommand::Feegrant(query) => query.ask(network).await,
        QueryCommand::Market(query) => query.ask(network).await,
        QueryCommand::Provider(query) => query.ask(network).await,
        QueryCommand::Tx(query) => query.ask(network).await,
        QueryCommand::Txs(query) => query.ask(network).await,
    }
}
