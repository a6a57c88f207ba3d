//! `query feegrant`.

use akash_proto::cosmos::feegrant::v1beta1::{
    QueryAllowanceRequest, QueryAllowancesByGranterRequest, QueryAllowancesRequest,
};
use akash_types::Address;
use anyhow::Context;
use clap::Subcommand;

use super::Found;
use super::args::PageArgs;
use crate::chain::Network;

pub(super) const HELP: &str = "\
Examples:
  provider-services query feegrant grant akash1…granter akash1…grantee
  provider-services query feegrant grants-by-grantee akash1…";

#[derive(Debug, Subcommand)]
pub(super) enum FeegrantQuery {
    /// Whether an account pays the fees of another
    #[command(after_help = HELP)]
    Grant {
        /// Who pays
        granter: Address,
        /// Whose fees
        grantee: Address,
    },
    /// Whose fees an account pays
    #[command(after_help = HELP)]
    GrantsByGranter {
        /// Who pays
        granter: Address,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Who pays the fees of an account
    #[command(after_help = HELP)]
    GrantsByGrantee {
        /// Whose fees
        grantee: Address,
        #[command(flatten)]
        page: PageArgs,
    },
}

impl FeegrantQuery {
    pub(super) async fn ask(&self, network: &Network) -> anyhow::Result<Found> {
        let found = match self {
            Self::Grant { granter, grantee } => {
                let (granter, grantee) = (granter.to_string(), grantee.to_string());
                let request = QueryAllowanceRequest { granter, grantee };
                network.ask("/cosmos.feegrant.v1beta1.Query/Allowance", &request).await
            }
            Self::GrantsByGranter { granter, page } => {
                let (granter, pagination) = (granter.to_string(), page.request()?);
                let request = QueryAllowancesByGranterRequest { granter, pagination };
                network.ask("/cosmos.feegrant.v1beta1.Query/AllowancesByGranter", &request).await
            }
            Self::GrantsByGrantee { grantee, page } => {
                let (grantee, pagination) = (grantee.to_string(), page.request()?);
                let request = QueryAllowancesRequest { grantee, pagination };
                network.ask("/cosmos.feegrant.v1beta1.Query/Allowances", &request).await
            }
        };
        Ok(Found::one(found.context("cannot read grants")?))
    }
}
