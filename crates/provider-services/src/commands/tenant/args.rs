//! Flags that several of the tenant's commands share.

use std::process::ExitCode;
use std::str::FromStr;

use akash_types::{Address, DeploymentId, GroupId, LeaseId, OrderId};
use anyhow::Context;
use clap::Args;
use provider_crd::names::lease_namespace;

use crate::chain::KeyringArgs;
use crate::console::Streams;

/// Where the provider is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Provider options")]
pub(crate) struct ProviderFlags {
    /// Where the provider answers [default: what it registered on chain]
    #[arg(long, value_name = "URL")]
    pub(super) provider_url: Option<String>,
    /// Ask no node: needs --provider-url, and a provider with a public certificate
    #[arg(long)]
    pub(super) offline: bool,
}

/// Which deployment, whose, and with whom.
#[derive(Debug, Args)]
#[command(next_help_heading = "Lease options")]
pub(crate) struct DeploymentOf {
    /// Number of the deployment
    #[arg(long, value_name = "N", required = true)]
    pub(super) dseq: u64,
    /// Account of the provider [default: found on chain]
    #[arg(long, value_name = "ADDRESS")]
    pub(super) provider: Option<Address>,
    /// Accepted, without effect: a tenant asks for what is its own
    #[arg(long, value_name = "ADDRESS", hide = true)]
    owner: Option<String>,
    /// Name or address of the tenant's key
    #[arg(long, value_name = "KEY", required = true)]
    pub(super) from: String,
    #[command(flatten)]
    pub(super) keyring: KeyringArgs,
    /// Accepted, without effect
    #[arg(long, value_name = "MODE", hide = true)]
    sign_mode: Option<String>,
    /// How to prove who is asking: jwt or mtls
    #[arg(long, value_name = "TYPE", default_value = "jwt")]
    pub(super) auth_type: AuthType,
}

/// Which lease of a deployment.
#[derive(Debug, Args)]
#[command(next_help_heading = "Lease options")]
pub(crate) struct LeaseOf {
    #[command(flatten)]
    pub(super) deployment: DeploymentOf,
    /// Number of the group
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) gseq: u32,
    /// Number of the order
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) oseq: u32,
}

/// How a tenant proves who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuthType {
    /// With a token that its key signs.
    Jwt,
    /// With a certificate that it published.
    Mtls,
}

impl FromStr for AuthType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "jwt" => Ok(Self::Jwt),
            "mtls" => Ok(Self::Mtls),
            _ => Err(format!("invalid gateway auth type {text}. supported are jwt|mtls")),
        }
    }
}

pub(super) const HELP: &str = "\
Examples:
  provider-services show-cluster-ns --owner akash1… --dseq 101 --provider akash1…
  kubectl -n \"$(provider-services show-cluster-ns --owner … --dseq 101 --provider …)\" get pods";

/// Arguments of `show-cluster-ns`.
#[derive(Debug, Args)]
pub(crate) struct NamespaceArgs {
    /// Account of the tenant
    #[arg(long, value_name = "ADDRESS", required = true)]
    owner: Address,
    /// Number of the deployment
    #[arg(long, value_name = "N", required = true)]
    dseq: u64,
    /// Number of the group
    #[arg(long, value_name = "N", default_value_t = 1)]
    gseq: u32,
    /// Number of the order
    #[arg(long, value_name = "N", default_value_t = 1)]
    oseq: u32,
    /// Account of the provider
    #[arg(long, value_name = "ADDRESS", required = true)]
    provider: Address,
}

pub(super) fn run(args: &NamespaceArgs, streams: &mut Streams<'_>) -> anyhow::Result<ExitCode> {
    let deployment = DeploymentId::new(args.owner, args.dseq).context("--dseq")?;
    let group = GroupId::new(deployment, args.gseq).context("--gseq")?;
    let order = OrderId::new(group, args.oseq).context("--oseq")?;
    let lease = LeaseId::new(order, args.provider);
    streams.print(&(lease_namespace(&lease) + "\n"))?;
    Ok(ExitCode::SUCCESS)
}
