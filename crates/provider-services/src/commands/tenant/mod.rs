//! What a tenant asks a provider: `status`, `send-manifest`, `lease-…` and their kin.
//!
//! ```text
//! flags ─► Tenant (key, node) ─► which lease ─► Door ─► Client ─► what it says, printed
//! ```
//!
//! Flags, output and exit codes are those of the Go program. What is said there and here alike is
//! in `refusal.rs`; how a provider is found and trusted is in `door.rs`.

mod args;
mod asker;
pub(crate) mod door;
mod manifest;
mod migrate;
mod refusal;
mod shell;
mod status;
mod stream;

use std::process::ExitCode;

use clap::Subcommand;

use crate::app::block_on;
use crate::console::Streams;
use crate::surroundings::Surroundings;

pub(crate) use args::AuthType;
pub(crate) use refusal::hint;

/// What a tenant can ask for.
#[derive(Debug, Subcommand)]
pub(crate) enum TenantCommand {
    /// Show how a provider is: what it runs and has room for
    #[command(after_help = status::PROVIDER_HELP)]
    Status(status::ProviderStatusArgs),
    /// Send the manifest of a deployment to the providers that it leases from
    ///
    /// The manifest is made from the SDL; it has to be the one that the deployment was created or
    /// last updated with.
    #[command(after_help = manifest::SEND_HELP)]
    SendManifest(manifest::SendArgs),
    /// Print the manifest that a provider keeps for a lease
    #[command(after_help = manifest::GET_HELP)]
    GetManifest(manifest::GetArgs),
    /// Show how a lease is: services, hostnames, ports and addresses
    #[command(after_help = status::LEASE_HELP)]
    LeaseStatus(status::LeaseStatusArgs),
    /// Show how one service of a lease is
    #[command(after_help = status::SERVICE_HELP)]
    ServiceStatus(status::ServiceStatusArgs),
    /// Show what happened to leases of a deployment
    #[command(after_help = stream::EVENTS_HELP)]
    LeaseEvents(stream::EventsArgs),
    /// Show what the containers of a deployment wrote
    #[command(after_help = stream::LOGS_HELP)]
    LeaseLogs(stream::LogsArgs),
    /// Run a command in a container
    #[command(after_help = shell::HELP)]
    LeaseShell(shell::ShellArgs),
    /// Move hostnames to another deployment of the same tenant
    #[command(after_help = migrate::HOSTNAMES_HELP)]
    MigrateHostnames(migrate::HostnamesArgs),
    /// Move leased addresses to another deployment of the same tenant
    #[command(after_help = migrate::ENDPOINTS_HELP)]
    MigrateEndpoints(migrate::EndpointsArgs),
    /// Print the namespace of a lease in its provider's Kubernetes cluster
    #[command(visible_alias = "cluster-ns", after_help = args::HELP)]
    ShowClusterNs(args::NamespaceArgs),
}

pub(crate) fn run(
    command: &TenantCommand,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    block_on(async {
        match command {
            TenantCommand::Status(args) => status::provider(args, surroundings, streams).await,
            TenantCommand::SendManifest(args) => manifest::send(args, surroundings, streams).await,
            TenantCommand::GetManifest(args) => manifest::get(args, surroundings, streams).await,
            TenantCommand::LeaseStatus(args) => status::lease(args, surroundings, streams).await,
            TenantCommand::ServiceStatus(args) => {
                status::service(args, surroundings, streams).await
            }
            TenantCommand::LeaseEvents(args) => stream::events(args, surroundings, streams).await,
            TenantCommand::LeaseLogs(args) => stream::logs(args, surroundings, streams).await,
            TenantCommand::LeaseShell(args) => shell::run(args, surroundings, streams).await,
            TenantCommand::MigrateHostnames(args) => {
                migrate::hostnames(args, surroundings, streams).await
            }
            TenantCommand::MigrateEndpoints(args) => {
                migrate::endpoints(args, surroundings, streams).await
            }
            TenantCommand::ShowClusterNs(args) => args::run(args, streams),
        }
    })
}
