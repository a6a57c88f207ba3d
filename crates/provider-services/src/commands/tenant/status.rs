//! How a provider, a lease or a service is.

use std::process::ExitCode;

use akash_chain::query::{LeaseFilter, QueryError};
use akash_types::{Address, DeploymentId, LeaseId, LeaseState};
use clap::Args;
use provider_api::json::to_pretty;
use provider_api::status::{ProviderStatus, ServiceStatus};
use serde::Serialize;

use super::args::{LeaseOf, ProviderFlags};
use super::asker::Tenant;
use super::door::{Door, Identity};
use super::refusal::refused;
use crate::chain::Network;
use crate::console::Streams;
use crate::surroundings::Surroundings;

pub(super) const PROVIDER_HELP: &str = "\
Examples:
  provider-services status akash1…
  provider-services status akash1… --provider-url https://provider.example.com:8443";

pub(super) const LEASE_HELP: &str = "\
Examples:
  provider-services lease-status --dseq 101 --from tenant
  provider-services lease-status --dseq 101 --provider akash1… --from tenant --auth-type mtls
  provider-services lease-status --dseq 101 --from tenant --detail";

pub(super) const SERVICE_HELP: &str = "\
Examples:
  provider-services service-status --service web --dseq 101 --from tenant";

/// Arguments of `status`.
#[derive(Debug, Args)]
pub(crate) struct ProviderStatusArgs {
    /// Account of the provider
    #[arg(value_name = "ADDRESS")]
    address: Address,
    #[command(flatten)]
    provider: ProviderFlags,
}

/// Arguments of `lease-status`.
#[derive(Debug, Args)]
pub(crate) struct LeaseStatusArgs {
    #[command(flatten)]
    lease: LeaseOf,
    #[command(flatten)]
    provider: ProviderFlags,
    /// Also show why services are not ready and how long the lease is funded, where the provider says
    #[arg(long)]
    detail: bool,
}

/// Arguments of `service-status`.
#[derive(Debug, Args)]
pub(crate) struct ServiceStatusArgs {
    /// Name of the service
    #[arg(long, value_name = "NAME", required = true)]
    service: String,
    #[command(flatten)]
    lease: LeaseOf,
    #[command(flatten)]
    provider: ProviderFlags,
    /// Also show why it is not ready, where the provider says
    #[arg(long)]
    detail: bool,
}

pub(super) async fn provider(
    args: &ProviderStatusArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let network = match args.provider.offline {
        true => None,
        false => Some(Network::new(surroundings.node(), None, false, &surroundings.to_node()?)?),
    };
    let door = Door {
        network: network.as_ref(),
        url: args.provider.provider_url.as_deref(),
        authorities: surroundings.outbound()?.trust(),
    };
    let client = door.client(args.address, Identity::Nobody).await?;
    let status = client.status().await.map_err(|error| refused(error, streams))?;
    print(&WithoutAddress::of(&status), streams)
}

pub(super) async fn lease(
    args: &LeaseStatusArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let tenant =
        Tenant::open(&args.lease.deployment, &args.provider, surroundings, streams.console)?;
    let lease = tenant.lease(&args.lease).await?;
    let client = tenant.client(lease.provider()).await?;
    let mut status = client.lease_status(lease).await.map_err(|error| refused(error, streams))?;
    if !args.detail {
        status.services.values_mut().for_each(without_detail);
        status.funds = None;
    }
    print(&status, streams)
}

pub(super) async fn service(
    args: &ServiceStatusArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let tenant =
        Tenant::open(&args.lease.deployment, &args.provider, surroundings, streams.console)?;
    let lease = tenant.lease(&args.lease).await?;
    let client = tenant.client(lease.provider()).await?;
    let status = client.service_status(lease, &args.service).await;
    let mut status = status.map_err(|error| refused(error, streams))?;
    if !args.detail {
        without_detail(&mut status);
    }
    print(&status, streams)
}

/// The Go program shows what it knows of, and this is not among it.
fn without_detail(status: &mut ServiceStatus) {
    status.detail = None;
}

fn print<T: Serialize>(value: &T, streams: &mut Streams<'_>) -> anyhow::Result<ExitCode> {
    streams.print(&(to_pretty(value)? + "\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// How a provider is, as the Go program prints it: who asks knows whose it is.
#[derive(Serialize)]
struct WithoutAddress<'a> {
    cluster: &'a provider_api::status::ClusterStatus,
    bidengine: &'a provider_api::status::BidEngineStatus,
    manifest: &'a provider_api::status::ManifestStatus,
    #[serde(skip_serializing_if = "str::is_empty")]
    cluster_public_hostname: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reclamation_window: Option<u64>,
}

impl<'a> WithoutAddress<'a> {
    fn of(status: &'a ProviderStatus) -> Self {
        Self {
            cluster: &status.cluster,
            bidengine: &status.bidengine,
            manifest: &status.manifest,
            cluster_public_hostname: &status.cluster_public_hostname,
            reclamation_window: status.reclamation_window,
        }
    }
}

/// The leases of a deployment that are paid for, in order of their groups.
pub(crate) async fn active_leases(
    network: &Network,
    id: DeploymentId,
) -> Result<Vec<LeaseId>, QueryError> {
    let filter = LeaseFilter {
        owner: Some(id.owner()),
        dseq: Some(id.dseq()),
        state: Some(LeaseState::Active),
        ..LeaseFilter::default()
    };
    let found = network.query().leases(filter).await?.value.items;
    let mut leases: Vec<LeaseId> = found.into_iter().map(|info| info.lease.id).collect();
    leases.sort_by_key(|lease| (lease.gseq(), lease.oseq()));
    Ok(leases)
}

/// The id of a lease, as the Go program prints it beside events and lines of logs.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LeaseIdDocument {
    owner: String,
    dseq: u64,
    gseq: u32,
    oseq: u32,
    provider: String,
    bseq: u32,
}

impl From<LeaseId> for LeaseIdDocument {
    fn from(id: LeaseId) -> Self {
        Self {
            owner: id.owner().to_string(),
            dseq: id.dseq(),
            gseq: id.gseq(),
            oseq: id.oseq(),
            provider: id.provider().to_string(),
            bseq: id.bseq(),
        }
    }
}
