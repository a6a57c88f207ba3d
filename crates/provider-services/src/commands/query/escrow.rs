//! `query escrow`.

use akash_proto::akash::escrow::v1::{QueryAccountsRequest, QueryPaymentsRequest};
use anyhow::Context;
use clap::{Args, Subcommand};

use super::args::PageArgs;
use super::{Found, remaining};
use crate::chain::Network;
use crate::commands::ids::DeploymentFlags;
use crate::output::tables;

pub(super) const HELP: &str = "\
Examples:
  provider-services query escrow accounts --state open -o table
  provider-services query escrow accounts --state open --xid deployment/akash1…/101
  provider-services query escrow blocks-remaining --owner akash1… --dseq 101";

#[derive(Debug, Subcommand)]
pub(super) enum EscrowQuery {
    /// Accounts that hold money
    #[command(after_help = HELP)]
    Accounts(List),
    /// Payments of leases
    #[command(after_help = HELP)]
    Payments(List),
    /// How long the money of a deployment will last
    #[command(after_help = HELP)]
    BlocksRemaining(DeploymentFlags),
}

#[derive(Debug, Args)]
pub(super) struct List {
    /// In this state
    #[arg(long, value_parser = ["open", "closed", "overdrawn"])]
    state: Option<String>,
    /// With this id: deployment/OWNER/DSEQ, and so on
    #[arg(long, value_name = "ID", requires = "state")]
    xid: Option<String>,
    #[command(flatten)]
    page: PageArgs,
}

impl EscrowQuery {
    pub(super) async fn ask(&self, network: &Network) -> anyhow::Result<Found> {
        match self {
            Self::Accounts(list) => {
                let state = list.state.clone().unwrap_or_default();
                let xid = list.xid.clone().unwrap_or_default();
                let request = QueryAccountsRequest { state, xid, pagination: list.page.request()? };
                let found = network.ask("/akash.escrow.v1.Query/Accounts", &request).await;
                let found = found.context("cannot list escrow accounts")?;
                Ok(Found::list(found, tables::escrow_accounts))
            }
            Self::Payments(list) => {
                let state = list.state.clone().unwrap_or_default();
                let xid = list.xid.clone().unwrap_or_default();
                let request = QueryPaymentsRequest { state, xid, pagination: list.page.request()? };
                let found = network.ask("/akash.escrow.v1.Query/Payments", &request).await;
                let found = found.context("cannot list escrow payments")?;
                Ok(Found::list(found, tables::escrow_payments))
            }
            Self::BlocksRemaining(flags) => remaining::ask(flags.id(None)?, network).await,
        }
    }
}
