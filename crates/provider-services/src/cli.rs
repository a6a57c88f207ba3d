//! The commands, their arguments and their help.
//!
//! Names and defaults are those of the Go program where it has the command. Every command gives
//! an example; flags can be set by the environment as well (see [`crate::surroundings`]).

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

use crate::commands::ctl::Ctl;
use crate::commands::deploy::DeployArgs;
use crate::commands::devnet::DevnetArgs;
use crate::commands::keys::Keys;
use crate::commands::migrate::Migrate;
use crate::commands::operator::Operator;
use crate::commands::query::Query;
use crate::commands::quickstart::QuickstartArgs;
use crate::commands::run::RunArgs;
use crate::commands::sim_cluster::SimClusterArgs;
use crate::commands::tenant::TenantCommand;
use crate::commands::tx::Tx;
use crate::commands::version::VERSION;
use crate::surroundings::Globals;

/// The program's name.
pub(crate) const NAME: &str = "provider-services";

const ROOT_HELP: &str = "\
Environment:
  Every flag can be set by a variable too: --output by AP_OUTPUT, or else by
  AKASH_OUTPUT. The command line wins over both.

Examples:
  provider-services quickstart
  provider-services sdl validate deploy.yaml
  provider-services deploy deploy.yaml --from tenant --chain-id akashnet-2
  provider-services keys add provider
  provider-services query market lease list --provider akash1… -o table
  provider-services tx deployment create deploy.yaml --from tenant
  provider-services run --from provider --chain-id akashnet-2 --check
  provider-services ctl status
  provider-services devnet
  provider-services sim-cluster
  provider-services help sdl groups";

const SDL_HELP: &str = "\
Examples:
  provider-services sdl validate deploy.yaml
  provider-services sdl groups deploy.yaml
  provider-services sdl version deploy.yaml";

const VALIDATE_HELP: &str = "\
Exit code: 0 if the file is valid, with or without warnings; 1 if it is not.

Examples:
  provider-services sdl validate deploy.yaml
  provider-services sdl validate --output json deploy.yaml
  cat deploy.yaml | provider-services sdl validate -";

const GROUPS_HELP: &str = "\
Examples:
  provider-services sdl groups deploy.yaml
  provider-services sdl groups --output json deploy.yaml";

const SDL_VERSION_HELP: &str = "\
Examples:
  provider-services sdl version deploy.yaml
  provider-services sdl version --base64 deploy.yaml";

const MANIFEST_HELP: &str = "\
Examples:
  provider-services sdl-to-manifest deploy.yaml
  provider-services sdl-to-manifest --output yaml deploy.yaml";

const CRD_HELP: &str = "\
Examples:
  provider-services crd | kubectl apply -f -
  provider-services crd > crds.yaml";

const COMPLETION_HELP: &str = "\
Examples:
  source <(provider-services completion bash)
  provider-services completion fish > ~/.config/fish/completions/provider-services.fish";

const MAN_HELP: &str = "\
Examples:
  provider-services man /usr/local/share/man/man1
  provider-services man . && man ./provider-services-deploy.1";

const VERSION_HELP: &str = "\
Examples:
  provider-services version
  provider-services version --long --output json";

/// The Akash provider's command line
#[derive(Debug, Parser)]
#[command(
    name = NAME,
    version = VERSION,
    after_help = ROOT_HELP,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What can be asked for.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check an SDL and show what it becomes on chain
    ///
    /// An SDL is the file in which a tenant describes services, what they need and what they may
    /// cost.
    #[command(
        subcommand,
        after_help = SDL_HELP,
        subcommand_required = true,
        arg_required_else_help = true
    )]
    Sdl(SdlCommand),
    /// Manage the keys of accounts
    Keys(Keys),
    /// Send a transaction
    Tx(Box<Tx>),
    /// Run the provider
    ///
    /// It follows the chain, bids on orders that the cluster can host, runs what its leases ask
    /// for and collects what they earn.
    #[command(after_help = crate::commands::run::HELP)]
    Run(Box<RunArgs>),
    /// Ask the provider that runs on this machine, and steer it
    Ctl(Ctl),
    /// Run an operator of the cluster by itself
    Operator(Operator),
    /// Ask the chain
    #[command(visible_alias = "q")]
    Query(Query),
    /// Run a chain on this machine, to try things
    ///
    /// It has one node, which speaks like any other, and nobody's money.
    Devnet(DevnetArgs),
    /// Run a simulated cluster on this machine, to try things
    ///
    /// Nothing runs in it, everything behaves: workloads start, fail, write logs and answer in a
    /// shell. It lives in a process of its own, so that they outlive the provider.
    SimCluster(SimClusterArgs),
    /// See all of it at work: a chain, a provider and a tenant, on this machine
    ///
    /// Nothing is needed for it and nothing is left of it. The money is nobody's.
    #[command(after_help = crate::commands::quickstart::HELP)]
    Quickstart(QuickstartArgs),
    /// Run what an SDL describes: order it, lease it, send it, and wait until it answers
    #[command(after_help = crate::commands::deploy::HELP)]
    Deploy(Box<DeployArgs>),
    #[command(flatten)]
    Tenant(TenantCommand),
    /// Print the manifest that an SDL becomes
    ///
    /// The manifest is what a tenant sends to a provider once a lease exists.
    #[command(after_help = MANIFEST_HELP)]
    SdlToManifest(SdlToManifest),
    /// Print the custom resource definitions of a Kubernetes cluster, as YAML
    ///
    /// A cluster needs them before a provider can use it. They are those of the Go provider, and
    /// can be applied to a cluster that has them already.
    #[command(after_help = CRD_HELP)]
    Crd,
    /// Bring what a Kubernetes cluster has of an earlier version to this one
    Migrate(Migrate),
    /// Print the script that completes commands in a shell
    #[command(after_help = COMPLETION_HELP)]
    Completion(Completion),
    /// Write the manual pages of all commands
    #[command(after_help = MAN_HELP)]
    Man(Man),
    /// Print the version of this program, on standard error
    #[command(after_help = VERSION_HELP)]
    Version(Version),
}

/// What can be asked of an SDL.
#[derive(Debug, Subcommand)]
pub(crate) enum SdlCommand {
    /// Say whether an SDL is valid, and everything that is wrong with it
    ///
    /// Each problem comes with its line and with what would be right. Warnings are about things
    /// that chain and providers accept but other tools may refuse.
    #[command(after_help = VALIDATE_HELP)]
    Validate(Validate),
    /// Show the deployment groups that an SDL becomes
    ///
    /// Groups are what the chain knows of a deployment: what providers bid on.
    #[command(after_help = GROUPS_HELP)]
    Groups(Groups),
    /// Print the version of an SDL: the hash of its manifest
    ///
    /// A deployment carries this hash on chain, and providers accept only the manifest that has
    /// it.
    #[command(after_help = SDL_VERSION_HELP)]
    Version(SdlVersion),
}

/// The SDL that a command reads.
#[derive(Debug, Args)]
pub(crate) struct SdlFile {
    /// Path of the SDL; - reads standard input
    #[arg(value_name = "SDL", value_hint = ValueHint::FilePath)]
    pub(crate) path: PathBuf,
}

/// Arguments of `sdl validate`.
#[derive(Debug, Args)]
pub(crate) struct Validate {
    #[command(flatten)]
    pub(crate) sdl: SdlFile,
    /// For people (text) or for programs (json)
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output: ReportFormat,
}

/// Arguments of `sdl groups`.
#[derive(Debug, Args)]
pub(crate) struct Groups {
    #[command(flatten)]
    pub(crate) sdl: SdlFile,
    /// For people (table) or for programs (json)
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output: GroupsFormat,
}

/// Arguments of `sdl version`.
#[derive(Debug, Args)]
pub(crate) struct SdlVersion {
    #[command(flatten)]
    pub(crate) sdl: SdlFile,
    /// Print base64, as the chain's JSON has it, instead of hex
    #[arg(long)]
    pub(crate) base64: bool,
}

/// Arguments of `sdl-to-manifest`.
#[derive(Debug, Args)]
pub(crate) struct SdlToManifest {
    #[command(flatten)]
    pub(crate) sdl: SdlFile,
    /// Format of the manifest
    #[arg(short, long, value_name = "FORMAT", default_value = "json")]
    pub(crate) output: ManifestFormat,
}

/// Arguments of `completion`.
#[derive(Debug, Args)]
pub(crate) struct Completion {
    /// The shell that is to run the script
    pub(crate) shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Directory of the pages; made if it is not there
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) directory: PathBuf,
}

/// Arguments of `version`.
#[derive(Debug, Args)]
pub(crate) struct Version {
    /// Print commit and compiler too
    #[arg(long)]
    pub(crate) long: bool,
    /// Format of what --long prints
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output: ReportFormat,
}

/// How something is reported.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ReportFormat {
    Text,
    Json,
}

/// How groups are printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum GroupsFormat {
    Table,
    Json,
}

/// How a manifest is printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ManifestFormat {
    Json,
    Yaml,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_tree_of_commands_is_sound() {
        Cli::command().debug_assert();
    }
}
