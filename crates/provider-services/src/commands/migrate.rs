//! `migrate`: what a cluster needs before this version of the provider can use it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use akash_net::Outbound;
use anyhow::Context;
use clap::{Args, Subcommand, ValueHint};
use kube_access::{Access, KubeClient, ResourceKind};
use provider_crd::custom_resource_definitions;
use serde_json::Value;

use crate::app::block_on;
use crate::console::Streams;
use crate::surroundings::Surroundings;

const HELP: &str = "\
Examples:
  provider-services migrate crds
  provider-services migrate crds --kubeconfig ~/.kube/cluster";

/// The field manager, which is that of the Go program: either may take over from the other.
const MANAGER: &str = "akash-provider";
/// How long the API server may take for one definition.
const LIMIT: Duration = Duration::from_secs(30);

/// `migrate` and what.
#[derive(Debug, Args)]
#[command(after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Migrate {
    #[command(subcommand)]
    command: MigrateCommand,
}

#[derive(Debug, Subcommand)]
enum MigrateCommand {
    /// Bring the custom resource definitions of a cluster to this version, by server-side apply
    ///
    /// New fields are added and no object is touched. Fields that others wrote are taken over.
    #[command(after_help = HELP)]
    Crds(CrdsArgs),
}

/// Arguments of `migrate crds`.
#[derive(Debug, Args)]
struct CrdsArgs {
    /// How to reach Kubernetes; without such a file as a pod does [default: $HOME/.kube/config]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    kubeconfig: Option<PathBuf>,
}

pub(crate) fn run(
    migrate: &Migrate,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let MigrateCommand::Crds(args) = &migrate.command;
    let default = || surroundings.user_home().map(|home| home.join(".kube/config"));
    let kubeconfig = args.kubeconfig.clone().or_else(default).unwrap_or_default();
    block_on(apply(kubeconfig, surroundings.outbound()?, streams))
}

async fn apply(
    kubeconfig: PathBuf,
    outbound: &Outbound,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let access = Access::find(&kubeconfig, outbound).await?;
    let client = KubeClient::new(access.client()?, LIMIT, Arc::new(|_: &str, _| {}));
    for definition in custom_resource_definitions() {
        let name = definition.pointer("/metadata/name").and_then(Value::as_str);
        let name = name.context("a definition has no name")?;
        let applied = client.apply(ResourceKind::DEFINITION, name, &definition, MANAGER).await;
        applied.with_context(|| format!("cannot apply {name} at {}", access.url()))?;
        streams.print(&format!("{name} applied\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}
