//! `tx deployment`: what a tenant runs.

use akash_chain::query::Query;
use akash_chain::tx::Message;
use akash_chain::tx::message::deployment::{
    CreateDeployment, close_deployment, close_group, create_deployment, pause_group, start_group,
    update_deployment,
};
use akash_sdl::Sdl;
use akash_types::{Address, Coin, DeploymentId, GroupSpec};
use anyhow::{Context, bail};
use clap::{Args, Subcommand};

use super::escrow::{DepositFlags, least};
use super::session::Session;
use crate::chain::Network;
use crate::cli::SdlFile;
use crate::commands::ids::{DeploymentFlags, GroupFlags};
use crate::commands::sdl::read_hashable;
use crate::console::Streams;

const HELP: &str = "\
Examples:
  provider-services tx deployment create deploy.yaml --from tenant
  provider-services tx deployment close --dseq 101 --from tenant";

const CREATE_HELP: &str = "\
Examples:
  provider-services tx deployment create deploy.yaml --from tenant
  provider-services tx deployment create deploy.yaml --deposit 5act --from tenant -y";

const UPDATE_HELP: &str = "\
Examples:
  provider-services tx deployment update deploy.yaml --dseq 101 --from tenant";

const CLOSE_HELP: &str = "\
Examples:
  provider-services tx deployment close --dseq 101 --from tenant";

const GROUP_HELP: &str = "\
Examples:
  provider-services tx deployment group pause --dseq 101 --gseq 1 --from tenant
  provider-services tx deployment group start --dseq 101 --gseq 1 --from tenant";

#[derive(Debug, Args)]
#[command(after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Deployment {
    #[command(subcommand)]
    command: DeploymentCommand,
}

#[derive(Debug, Subcommand)]
enum DeploymentCommand {
    /// Order what an SDL describes
    #[command(after_help = CREATE_HELP)]
    Create(Create),
    /// Announce a changed SDL: images, variables, but no resources
    #[command(after_help = UPDATE_HELP)]
    Update(Update),
    /// End a deployment and its leases
    #[command(after_help = CLOSE_HELP)]
    Close(DeploymentFlags),
    /// Groups of a deployment
    #[command(
        subcommand,
        after_help = GROUP_HELP,
        subcommand_required = true,
        arg_required_else_help = true
    )]
    Group(GroupCommand),
}

#[derive(Debug, Subcommand)]
enum GroupCommand {
    /// End a group and its lease
    #[command(after_help = GROUP_HELP)]
    Close(GroupFlags),
    /// End the lease of a group that may be started again
    #[command(after_help = GROUP_HELP)]
    Pause(GroupFlags),
    /// Order a paused group again
    #[command(after_help = GROUP_HELP)]
    Start(GroupFlags),
}

#[derive(Debug, Args)]
struct Create {
    #[command(flatten)]
    sdl: SdlFile,
    /// Account of the tenant, if it is not --from
    #[arg(long, value_name = "ADDRESS")]
    owner: Option<Address>,
    /// Number of the deployment [default: the newest height]
    #[arg(long, value_name = "N")]
    dseq: Option<u64>,
    #[command(flatten)]
    deposit: DepositFlags,
}

#[derive(Debug, Args)]
struct Update {
    #[command(flatten)]
    sdl: SdlFile,
    #[command(flatten)]
    id: DeploymentFlags,
}

impl Deployment {
    pub(super) async fn message(
        &self,
        session: &Session<'_>,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<Message> {
        let from = Some(session.from());
        match &self.command {
            DeploymentCommand::Create(args) => {
                let sdl = read_hashable(&args.sdl, streams)?;
                create(args, &sdl, session).await
            }
            DeploymentCommand::Update(args) => {
                let sdl = read_hashable(&args.sdl, streams)?;
                let id = args.id.id(from)?;
                if let Some(network) = session.node() {
                    check_groups(network.query(), id, sdl.groups()).await?;
                }
                Ok(update_deployment(id, *sdl.version().as_bytes()))
            }
            DeploymentCommand::Close(args) => Ok(close_deployment(args.id(from)?)),
            DeploymentCommand::Group(command) => Ok(match command {
                GroupCommand::Close(args) => close_group(args.id(from)?),
                GroupCommand::Pause(args) => pause_group(args.id(from)?),
                GroupCommand::Start(args) => start_group(args.id(from)?),
            }),
        }
    }
}

async fn create(args: &Create, sdl: &Sdl, session: &Session<'_>) -> anyhow::Result<Message> {
    let dseq = match args.dseq.filter(|dseq| *dseq > 0) {
        Some(dseq) => dseq,
        None => {
            let status = session.network("give --dseq")?.node().status().await?;
            if status.catching_up {
                bail!("the node is catching up and does not know the newest height: give --dseq");
            }
            status.latest_height
        }
    };
    let owner = args.owner.unwrap_or_else(|| session.from());
    let groups = sdl.groups().to_vec();
    let coin = match &args.deposit.deposit {
        Some(coin) => coin.clone(),
        None => least_deposit(session.network("give --deposit")?, &groups).await?,
    };
    Ok(create_deployment(CreateDeployment {
        id: DeploymentId::new(owner, dseq).context("--dseq")?,
        groups,
        hash: *sdl.version().as_bytes(),
        deposit: args.deposit.sources.deposit(coin)?,
        reclamation_min_window: sdl.reclamation_min_window(),
    })?)
}

/// The least that the chain takes for a deployment of these groups.
pub(crate) async fn least_deposit(network: &Network, groups: &[GroupSpec]) -> anyhow::Result<Coin> {
    let params = network.query().deployment_params().await?;
    let price = groups.first().and_then(|group| group.resources.first());
    let denom = price.map(|unit| unit.price.denom()).context("the SDL has no price")?;
    least(params.value.min_deposits, denom)
}

/// What is ordered cannot be changed, and the chain would not say so.
async fn check_groups<T: akash_chain::query::Transport>(
    query: &Query<T>,
    id: DeploymentId,
    groups: &[GroupSpec],
) -> anyhow::Result<()> {
    let found = query.deployment(id).await?.value;
    let found = found.with_context(|| format!("there is no deployment {id}"))?;
    let same = found.groups.len() == groups.len()
        && found.groups.iter().zip(groups).all(|(ordered, group)| ordered.spec == *group);
    if !same {
        bail!(
            "deployment update failed: the SDL asks for other groups or resources than deployment \
             {id} has ordered; those cannot be changed, create a new deployment"
        );
    }
    Ok(())
}
