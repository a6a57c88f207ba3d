//! `query audit`.

use akash_proto::akash::audit::v1::{
    QueryAllProvidersAttributesRequest, QueryAuditorAttributesRequest,
    QueryProviderAttributesRequest, QueryProviderAuditorRequest,
};
use akash_types::Address;
use anyhow::Context;
use clap::{Args, Subcommand};

use super::Found;
use super::args::PageArgs;
use crate::chain::Network;
use crate::output::tables;

pub(super) const HELP: &str = "\
Examples:
  provider-services query audit list -o table
  provider-services query audit list --auditor akash1…
  provider-services query audit get akash1…provider akash1…auditor";

#[derive(Debug, Subcommand)]
pub(super) enum AuditQuery {
    /// What auditors signed of anybody
    #[command(after_help = HELP)]
    List(List),
    /// What auditors, or one of them, signed of a provider
    #[command(after_help = HELP)]
    Get {
        /// Account of the provider
        provider: Address,
        /// Account of the auditor
        auditor: Option<Address>,
        #[command(flatten)]
        page: PageArgs,
    },
}

#[derive(Debug, Args)]
pub(super) struct List {
    /// By this auditor
    #[arg(long, value_name = "ADDRESS")]
    auditor: Option<Address>,
    #[command(flatten)]
    page: PageArgs,
}

impl AuditQuery {
    pub(super) async fn ask(&self, network: &Network) -> anyhow::Result<Found> {
        let found = match self {
            Self::List(List { auditor: None, page }) => {
                let request = QueryAllProvidersAttributesRequest { pagination: page.request()? };
                network.ask("/akash.audit.v1.Query/AllProvidersAttributes", &request).await
            }
            Self::List(List { auditor: Some(auditor), page }) => {
                let (auditor, pagination) = (auditor.to_string(), page.request()?);
                let request = QueryAuditorAttributesRequest { auditor, pagination };
                network.ask("/akash.audit.v1.Query/AuditorAttributes", &request).await
            }
            Self::Get { provider, auditor: None, page } => {
                let (owner, pagination) = (provider.to_string(), page.request()?);
                let request = QueryProviderAttributesRequest { owner, pagination };
                network.ask("/akash.audit.v1.Query/ProviderAttributes", &request).await
            }
            Self::Get { provider, auditor: Some(auditor), .. } => {
                let (owner, auditor) = (provider.to_string(), auditor.to_string());
                let request = QueryProviderAuditorRequest { auditor, owner };
                network.ask("/akash.audit.v1.Query/ProviderAuditorAttributes", &request).await
            }
        };
        Ok(Found::list(found.context("cannot read signed attributes")?, tables::audits))
    }
}
