//! `query authz`.

use akash_proto::cosmos::authz::v1beta1::{
    QueryGranteeGrantsRequest, QueryGranterGrantsRequest, QueryGrantsRequest,
};
use akash_types::Address;
use anyhow::Context;
use clap::Subcommand;

use super::Found;
use super::args::PageArgs;
use crate::chain::Network;

pub(super) const HELP: &str = "\
Examples:
  provider-services query authz grants akash1…granter akash1…grantee
  provider-services query authz grants-by-granter akash1…";

#[derive(Debug, Subcommand)]
pub(super) enum AuthzQuery {
    /// What an account allows another
    #[command(after_help = HELP)]
    Grants {
        /// Who allows
        granter: Address,
        /// Who is allowed
        grantee: Address,
        /// For messages of this type only
        #[arg(value_name = "TYPE", default_value = "", hide_default_value = true)]
        msg_type: String,
        #[command(flatten)]
        page: PageArgs,
    },
    /// What an account allows anybody
    #[command(after_help = HELP)]
    GrantsByGranter {
        /// Who allows
        granter: Address,
        #[command(flatten)]
        page: PageArgs,
    },
    /// What anybody allows an account
    #[command(after_help = HELP)]
    GrantsByGrantee {
        /// Who is allowed
        grantee: Address,
        #[command(flatten)]
        page: PageArgs,
    },
}

impl AuthzQuery {
    pub(super) async fn ask(&self, network: &Network) -> anyhow::Result<Found> {
        let found = match self {
            Self::Grants { granter, grantee, msg_type, page } => {
                let request = QueryGrantsRequest {
                    granter: granter.to_string(),
                    grantee: grantee.to_string(),
                    msg_type_url: msg_type.clone(),
                    pagination: page.request()?,
                };
                network.ask("/cosmos.authz.v1beta1.Query/Grants", &request).await
            }
            Self::GrantsByGranter { granter, page } => {
                let (granter, pagination) = (granter.to_string(), page.request()?);
                let request = QueryGranterGrantsRequest { granter, pagination };
                network.ask("/cosmos.authz.v1beta1.Query/GranterGrants", &request).await
            }
            Self::GrantsByGrantee { grantee, page } => {
                let (grantee, pagination) = (grantee.to_string(), page.request()?);
                let request = QueryGranteeGrantsRequest { grantee, pagination };
                network.ask("/cosmos.authz.v1beta1.Query/GranteeGrants", &request).await
            }
        };
        Ok(Found::one(found.context("cannot read grants")?))
    }
}
