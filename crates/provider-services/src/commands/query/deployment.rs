//! `query deployment`.

use akash_proto::akash::deployment::v1beta4::{
    DeploymentFilters, QueryDeploymentRequest, QueryDeploymentsRequest, QueryGroupRequest,
    QueryParamsRequest,
};
use akash_types::Address;
use anyhow::Context;
use clap::{Args, Subcommand};

use super::Found;
use super::args::{PageArgs, text};
use crate::chain::Network;
use crate::commands::ids::{DeploymentFlags, GroupFlags};
use crate::output::tables;

pub(super) const HELP: &str = "\
Examples:
  provider-services query deployment list --owner akash1… --state active -o table
  provider-services query deployment get --owner akash1… --dseq 101
  provider-services query deployment group get --owner akash1… --dseq 101 --gseq 1";

const PARAMS_HELP: &str = "\
Examples:
  provider-services query deployment params -o table";

#[derive(Debug, Subcommand)]
pub(super) enum DeploymentQuery {
    /// Deployments that match all that is given
    #[command(after_help = HELP)]
    List(List),
    /// One deployment
    #[command(after_help = HELP)]
    Get(DeploymentFlags),
    /// Groups of deployments
    #[command(subcommand, after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
    Group(GroupQuery),
    /// Parameters of deployments
    #[command(after_help = PARAMS_HELP)]
    Params,
}

#[derive(Debug, Subcommand)]
pub(super) enum GroupQuery {
    /// One group
    #[command(after_help = HELP)]
    Get(GroupFlags),
}

#[derive(Debug, Args)]
pub(super) struct List {
    /// Of this tenant
    #[arg(long, value_name = "ADDRESS")]
    owner: Option<Address>,
    /// With this number
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    dseq: u64,
    /// In this state
    #[arg(long, value_parser = ["active", "closed"])]
    state: Option<String>,
    #[command(flatten)]
    page: PageArgs,
}

impl DeploymentQuery {
    pub(super) async fn ask(&self, network: &Network) -> anyhow::Result<Found> {
        match self {
            Self::List(list) => {
                let filters = DeploymentFilters {
                    owner: text(list.owner),
                    dseq: list.dseq,
                    state: list.state.clone().unwrap_or_default(),
                };
                let request = QueryDeploymentsRequest {
                    filters: Some(filters),
                    pagination: list.page.request()?,
                };
                let path = "/akash.deployment.v1beta4.Query/Deployments";
                let found = network.ask(path, &request).await.context("cannot list deployments")?;
                Ok(Found::list(found, tables::deployments))
            }
            Self::Get(flags) => {
                let id = flags.id(None)?;
                let request = QueryDeploymentRequest { id: Some(id.into()) };
                let path = "/akash.deployment.v1beta4.Query/Deployment";
                let found = network.ask(path, &request).await;
                Ok(Found::one(found.with_context(|| format!("cannot read deployment {id}"))?))
            }
            Self::Group(GroupQuery::Get(flags)) => {
                let id = flags.id(None)?;
                let request = QueryGroupRequest { id: Some(id.into()) };
                let found = network.ask("/akash.deployment.v1beta4.Query/Group", &request).await;
                let found = found.with_context(|| format!("cannot read group {id}"))?;
                Ok(Found::field(found, "group"))
            }
            Self::Params => {
                let path = "/akash.deployment.v1beta4.Query/Params";
                let found = network.ask(path, &QueryParamsRequest {}).await;
                Ok(Found::one(found.context("cannot read the parameters of deployments")?))
            }
        }
    }
}
