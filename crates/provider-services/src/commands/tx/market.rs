//! `tx market`: bids of providers, leases of tenants.

use std::time::Duration;

use akash_chain::tx::Message;
use akash_chain::tx::message::market::{
    CreateBid, close_bid, close_lease, create_bid, create_lease, start_reclaim, withdraw_lease,
};
use akash_types::{DecCoin, LeaseClosedReason};
use anyhow::Context;
use clap::{Args, Subcommand};

use super::escrow::{DepositFlags, least};
use super::session::Session;
use crate::chain::values;
use crate::commands::ids::{BidFlags, OrderFlags};

const HELP: &str = "\
Examples:
  provider-services tx market bid create --owner akash1… --dseq 101 --price 500uact --from provider
  provider-services tx market lease create --dseq 101 --provider akash1… --from tenant";

const BID_HELP: &str = "\
Examples:
  provider-services tx market bid create --owner akash1… --dseq 101 --price 500uact --from provider
  provider-services tx market bid close --owner akash1… --dseq 101 --from provider";

const REASON_HELP: &str = "\
Reasons: 10000 the workload is unstable, 10001 the hardware goes away, 10002 none given,
10003 no manifest came in time. Any number from 10000 to 19999 is taken.

Examples:
  provider-services tx market bid close --owner akash1… --dseq 101 --from provider
  provider-services tx market bid start-reclaim --owner akash1… --dseq 101 --reason 10001 \\
    --from provider";

const LEASE_HELP: &str = "\
Examples:
  provider-services tx market lease create --dseq 101 --provider akash1… --from tenant
  provider-services tx market lease withdraw --owner akash1… --dseq 101 --from provider
  provider-services tx market lease close --dseq 101 --provider akash1… --from tenant";

#[derive(Debug, Args)]
#[command(after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Market {
    #[command(subcommand)]
    command: MarketCommand,
}

#[derive(Debug, Subcommand)]
enum MarketCommand {
    /// Offers of a provider
    #[command(
        subcommand,
        after_help = BID_HELP,
        subcommand_required = true,
        arg_required_else_help = true
    )]
    Bid(BidCommand),
    /// Offers that a tenant accepted
    #[command(
        subcommand,
        after_help = LEASE_HELP,
        subcommand_required = true,
        arg_required_else_help = true
    )]
    Lease(LeaseCommand),
}

#[derive(Debug, Subcommand)]
enum BidCommand {
    /// Offer to run an order
    #[command(after_help = BID_HELP)]
    Create(Create),
    /// Take a bid back, or end its lease
    #[command(after_help = REASON_HELP)]
    Close(Close),
    /// Announce that a lease will be taken back after its reclamation window
    #[command(after_help = REASON_HELP)]
    StartReclaim(Close),
}

#[derive(Debug, Subcommand)]
enum LeaseCommand {
    /// Accept a bid
    #[command(after_help = LEASE_HELP)]
    Create(BidFlags),
    /// Collect what a lease has earned
    #[command(after_help = LEASE_HELP)]
    Withdraw(BidFlags),
    /// End a lease, as its tenant
    #[command(after_help = LEASE_HELP)]
    Close(BidFlags),
}

#[derive(Debug, Args)]
struct Create {
    #[command(flatten)]
    order: OrderFlags,
    /// Price per block of the whole group
    #[arg(long, value_name = "COIN")]
    price: DecCoin,
    #[command(flatten)]
    deposit: DepositFlags,
    /// How long the lease will run on after it is to be taken back [default: it never is]
    #[arg(long, value_name = "SPAN", value_parser = values::span)]
    reclamation_window: Option<Duration>,
}

#[derive(Debug, Args)]
struct Close {
    #[command(flatten)]
    id: BidFlags,
    /// Why
    #[arg(long, value_name = "N", value_parser = reason, default_value = "10002")]
    reason: LeaseClosedReason,
}

fn reason(text: &str) -> Result<LeaseClosedReason, String> {
    let code = text.parse().map_err(|_| "expected 10000 to 19999".to_owned())?;
    LeaseClosedReason::provider(code).map_err(|error| error.to_string())
}

impl Market {
    pub(super) async fn message(&self, session: &Session<'_>) -> anyhow::Result<Message> {
        let from = Some(session.from());
        Ok(match &self.command {
            MarketCommand::Bid(BidCommand::Create(args)) => create(args, session).await?,
            MarketCommand::Bid(BidCommand::Close(args)) => {
                close_bid(args.id.id(None, from)?, args.reason)?
            }
            MarketCommand::Bid(BidCommand::StartReclaim(args)) => {
                start_reclaim(args.id.lease_id(None, from)?, args.reason)?
            }
            MarketCommand::Lease(LeaseCommand::Create(args)) => create_lease(args.id(from, None)?)?,
            MarketCommand::Lease(LeaseCommand::Withdraw(args)) => {
                withdraw_lease(args.lease_id(None, from)?)?
            }
            MarketCommand::Lease(LeaseCommand::Close(args)) => {
                close_lease(args.lease_id(from, None)?)?
            }
        })
    }
}

async fn create(args: &Create, session: &Session<'_>) -> anyhow::Result<Message> {
    let coin = match &args.deposit.deposit {
        Some(coin) => coin.clone(),
        None => {
            let params = session.network("give --deposit")?.query().market_params().await?.value;
            let uakt = "uakt".parse().context("the denomination uakt")?;
            least(params.bid_min_deposits, &uakt)?
        }
    };
    Ok(create_bid(CreateBid {
        id: args.order.id(None)?.bid_id(session.from()),
        price: args.price.clone(),
        deposit: args.deposit.sources.deposit(coin)?,
        resources_offer: Vec::new(),
        reclamation_window: args.reclamation_window,
    })?)
}
