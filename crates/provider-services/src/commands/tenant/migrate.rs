//! Moving hostnames and leased addresses.

use std::process::ExitCode;

use clap::Args;
use provider_api::migrate::{MigrateEndpoints, MigrateHostnames};

use super::args::{DeploymentOf, ProviderFlags};
use super::asker::Tenant;
use super::refusal::refused;
use crate::console::Streams;
use crate::surroundings::Surroundings;

pub(super) const HOSTNAMES_HELP: &str = "\
The deployment that gets the names has to list them in its manifest already.

Examples:
  provider-services migrate-hostnames www.example.com --dseq 102 --from tenant";

pub(super) const ENDPOINTS_HELP: &str = "\
The deployment that gets the addresses has to have endpoints of these names already.

Examples:
  provider-services migrate-endpoints dns --dseq 102 --from tenant";

/// Arguments of `migrate-hostnames`.
#[derive(Debug, Args)]
pub(crate) struct HostnamesArgs {
    /// The hostnames
    #[arg(value_name = "HOSTNAME", required = true)]
    hostnames: Vec<String>,
    #[command(flatten)]
    to: Destination,
}

/// Arguments of `migrate-endpoints`.
#[derive(Debug, Args)]
pub(crate) struct EndpointsArgs {
    /// Names of the endpoints
    #[arg(value_name = "ENDPOINT", required = true)]
    endpoints: Vec<String>,
    #[command(flatten)]
    to: Destination,
}

/// Where they go.
#[derive(Debug, Args)]
struct Destination {
    #[command(flatten)]
    deployment: DeploymentOf,
    /// Number of the group
    #[arg(long, value_name = "N", default_value_t = 1)]
    gseq: u32,
    #[command(flatten)]
    provider: ProviderFlags,
}

pub(super) async fn hostnames(
    args: &HostnamesArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let client = args.to.client(surroundings, streams).await?;
    let request = MigrateHostnames {
        hostnames_to_migrate: args.hostnames.clone(),
        destination_dseq: args.to.deployment.dseq,
        destination_gseq: args.to.gseq,
    };
    client.migrate_hostnames(&request).await.map_err(|error| refused(error, streams))?;
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn endpoints(
    args: &EndpointsArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let client = args.to.client(surroundings, streams).await?;
    let request = MigrateEndpoints {
        endpoints_to_migrate: args.endpoints.clone(),
        destination_dseq: args.to.deployment.dseq,
        destination_gseq: args.to.gseq,
    };
    client.migrate_endpoints(&request).await.map_err(|error| refused(error, streams))?;
    Ok(ExitCode::SUCCESS)
}

impl Destination {
    async fn client(
        &self,
        surroundings: &Surroundings,
        streams: &Streams<'_>,
    ) -> anyhow::Result<provider_api::client::Client> {
        let tenant = Tenant::open(&self.deployment, &self.provider, surroundings, streams.console)?;
        tenant.client(tenant.provider_of(self.gseq).await?).await
    }
}
