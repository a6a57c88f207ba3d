//! `query bank`.

use akash_proto::cosmos::bank::v1beta1::{
    QueryAllBalancesRequest, QueryBalanceRequest, QuerySpendableBalancesRequest,
};
use akash_types::{Address, Denom};
use anyhow::Context;
use clap::Subcommand;

use super::Found;
use super::args::PageArgs;
use crate::chain::Network;
use crate::output::tables;

pub(super) const HELP: &str = "\
Examples:
  provider-services query bank balances akash1… -o table
  provider-services query bank balances akash1… --denom uakt";

#[derive(Debug, Subcommand)]
pub(super) enum BankQuery {
    /// What an account has
    #[command(after_help = HELP)]
    Balances {
        /// The account
        address: Address,
        /// Of this denomination only
        #[arg(long, value_name = "DENOM")]
        denom: Option<Denom>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// What an account can spend
    #[command(after_help = HELP)]
    SpendableBalances {
        /// The account
        address: Address,
        #[command(flatten)]
        page: PageArgs,
    },
}

impl BankQuery {
    pub(super) async fn ask(&self, network: &Network) -> anyhow::Result<Found> {
        let (Self::Balances { address, .. } | Self::SpendableBalances { address, .. }) = self;
        let asked = || format!("cannot read balances of {address}");
        let address = address.to_string();
        let found = match self {
            Self::Balances { denom: Some(denom), .. } => {
                let denom = denom.as_str().to_owned();
                let request = QueryBalanceRequest { address, denom };
                let found = network.ask("/cosmos.bank.v1beta1.Query/Balance", &request).await;
                return Ok(Found::field(found.with_context(asked)?, "balance"));
            }
            Self::Balances { denom: None, page, .. } => {
                let pagination = page.request()?;
                let request = QueryAllBalancesRequest { address, pagination, resolve_denom: false };
                network.ask("/cosmos.bank.v1beta1.Query/AllBalances", &request).await
            }
            Self::SpendableBalances { page, .. } => {
                let pagination = page.request()?;
                let request = QuerySpendableBalancesRequest { address, pagination };
                network.ask("/cosmos.bank.v1beta1.Query/SpendableBalances", &request).await
            }
        };
        Ok(Found::list(found.with_context(asked)?, tables::balances))
    }
}
