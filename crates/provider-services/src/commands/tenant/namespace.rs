//! What a lease is called in a Kubernetes cluster.

use std::process::ExitCode;

use akash_types::{Address, DeploymentId, GroupId, LeaseId, OrderId};
use anyhow::Context;
use clap::Args;
use provider_crd::names::lease_namespace;

use crate::streams::Streams;

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
