//! `query provider`.

use akash_proto::akash::provider::v1beta4::{QueryProviderRequest, QueryProvidersRequest};
use akash_types::Address;
use anyhow::Context;
use clap::Subcommand;

use super::Found;
use super::args::PageArgs;
use crate::chain::Network;
use crate::output::tables;

pub(super) const HELP: &str = "\
Examples:
  provider-services query provider get akash1… -o json
  provider-services query provider list --limit 20 -o table";

#[derive(Debug, Subcommand)]
pub(super) enum ProviderQuery {
    /// All providers
    #[command(after_help = HELP)]
    List(PageArgs),
    /// One provider
    #[command(after_help = HELP)]
    Get {
        /// Its account
        address: Address,
    },
}

impl ProviderQuery {
    pub(super) async fn ask(&self, network: &Network) -> anyhow::Result<Found> {
        match self {
            Self::List(page) => {
                let request = QueryProvidersRequest { pagination: page.request()? };
                let path = "/akash.provider.v1beta4.Query/Providers";
                let found = network.ask(path, &request).await.context("cannot list providers")?;
                Ok(Found::list(found, tables::providers))
            }
            Self::Get { address } => {
                let request = QueryProviderRequest { owner: address.to_string() };
                let path = "/akash.provider.v1beta4.Query/Provider";
                let asked = || format!("cannot read provider {address}");
                let found = network.ask(path, &request).await.with_context(asked)?;
                Ok(Found::field(found, "provider"))
            }
        }
    }
}
