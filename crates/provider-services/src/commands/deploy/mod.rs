//! `deploy`: the one command that takes an SDL to services that answer.
//!
//! `plan.rs` decides from what the chain has; `job.rs` does it. What happened so far is not kept
//! anywhere but on the chain, so that a deployment can be left and gone on with at any point; only
//! its SDL is kept (`look.rs`), which the chain does not have.

mod ask;
mod job;
mod look;
mod outcome;
mod plan;

use std::cell::OnceCell;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use akash_chain::tx::message::deployment::close_deployment;
use akash_chain::tx::{FeeRule, GasAdjustment};
use akash_types::{Coin, DeploymentId, DeploymentState};
use anyhow::{Context, bail};
use clap::{Args, ValueHint};

use crate::app::{block_on, stop_signal};
use crate::chain::{Account, AccountSigner, KeyringArgs, Network, Wallet, values};
use crate::cli::ReportFormat;
use crate::commands::sdl::{check_hashable, read_valid_source};
use crate::commands::tenant::AuthType;
use crate::console::Streams;
use crate::source::Source;
use crate::surroundings::Surroundings;
use look::Kept;

pub(crate) use job::Job;
pub(crate) use outcome::{Outcome, Progress, in_coins};
pub(crate) use plan::Pick;

pub(crate) const HELP: &str = "\
It creates the deployment, waits for bids, makes a lease of the one that is picked, sends the
manifest and waits until every service is ready. Stopped or failed on the way, what was reached
stays: --resume goes on with it, --close ends it and gets back what is left of the deposit.

Examples:
  provider-services deploy deploy.yaml --from tenant --chain-id akashnet-2
  provider-services deploy deploy.yaml --from tenant --pick cheapest --output json
  provider-services deploy --resume 101 --from tenant
  provider-services deploy --close 101 --from tenant";

/// Arguments of `deploy`.
#[derive(Debug, Args)]
pub(crate) struct DeployArgs {
    /// Path of the SDL; - reads standard input
    #[arg(value_name = "SDL", value_hint = ValueHint::FilePath, required_unless_present_any = ["resume", "close"])]
    sdl: Option<PathBuf>,
    /// Go on with this deployment
    #[arg(long, value_name = "DSEQ", conflicts_with = "close")]
    resume: Option<u64>,
    /// End this deployment and its leases
    #[arg(long, value_name = "DSEQ", conflicts_with = "sdl")]
    close: Option<u64>,
    /// Number of the new deployment [default: the newest height]
    #[arg(long, value_name = "N", conflicts_with_all = ["resume", "close"])]
    dseq: Option<u64>,
    /// Which bid to take: cheapest, ask, or the provider's address [default: ask on a terminal,
    /// else cheapest]
    #[arg(long, value_name = "WHICH")]
    pick: Option<Pick>,
    /// How long to wait for more bids once there is one
    #[arg(long, value_name = "SPAN", value_parser = values::span, default_value = "5s")]
    bid_wait: Duration,
    /// How long to wait for a first bid, and for services to be ready
    #[arg(long, value_name = "SPAN", value_parser = values::span, default_value = "5m")]
    timeout: Duration,
    /// What is deposited [default: the least that the chain takes]
    #[arg(long, value_name = "COIN", value_parser = values::coin)]
    deposit: Option<Coin>,
    /// Name or address of the tenant's key
    #[arg(long, value_name = "KEY", required = true)]
    from: String,
    #[command(flatten)]
    keyring: KeyringArgs,
    /// The chain that transactions are for
    #[arg(long, value_name = "ID", required = true)]
    chain_id: String,
    /// Price of a unit of gas
    #[arg(long, value_name = "COINS", default_value = "0.025uakt")]
    gas_prices: String,
    /// By how much the gas limit exceeds what a simulation uses
    #[arg(long, value_name = "FACTOR", default_value_t)]
    gas_adjustment: GasAdjustment,
    /// How to prove who is asking: jwt or mtls, for which a certificate is made if there is none
    #[arg(long, value_name = "TYPE", default_value = "jwt")]
    auth_type: AuthType,
    /// For people (text) or for programs (json)
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: ReportFormat,
}

impl FromStr for Pick {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "cheapest" => Ok(Self::Cheapest),
            "ask" => Ok(Self::Ask),
            address => address
                .parse()
                .map(Self::Provider)
                .map_err(|_| "expected cheapest, ask or the address of a provider".to_owned()),
        }
    }
}

pub(crate) fn run(
    args: &DeployArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let account = Account::find(&args.from, &args.keyring, surroundings, streams.console)?;
    let secret = account.secret()?;
    block_on(async {
        let network = Network::new(surroundings.node(), None, false, &surroundings.to_node()?)?;
        let fees = FeeRule::parse("", &args.gas_prices).context("--gas-prices")?;
        let signer = AccountSigner::new(secret.clone());
        let wallet = Wallet::new(&network, signer, &args.chain_id, fees, args.gas_adjustment);
        let home = surroundings.home()?;
        let owner = wallet.address();
        if let Some(dseq) = args.close {
            let id = DeploymentId::new(owner, dseq).context("--close")?;
            return close(id, &Kept::of(home, &args.chain_id, id), &wallet, streams).await;
        }
        let progress = Progress::begin();
        let dseq = match args.resume.or(args.dseq) {
            Some(dseq) => dseq,
            None => newest_height(&network).await?,
        };
        let id = DeploymentId::new(owner, dseq).context("--dseq or --resume")?;
        let kept = Kept::of(home, &args.chain_id, id);
        let source = source(args, &kept, streams)?;
        let sdl = read_valid_source(&source, streams)?;
        check_hashable(&sdl)?;
        // Before anything is sent: whatever happens then can be gone on with.
        kept.write(&source.text)?;
        let job = Job {
            wallet: &wallet,
            secret: &secret,
            home,
            id,
            sdl: &sdl,
            deposit: args.deposit.clone(),
            pick: args.pick.unwrap_or(default_pick(streams)),
            auth: args.auth_type,
            timeout: args.timeout,
            bid_wait: args.bid_wait,
            block_time: OnceCell::new(),
        };
        let walk = async {
            if args.auth_type == AuthType::Mtls {
                ask::ensure(&wallet, &secret, home, &progress, streams).await?;
            }
            job.run(&progress, streams).await
        };
        let stopped = stop_signal()?;
        let walked = tokio::select! {
            walked = walk => walked,
            () = stopped => Err(anyhow::anyhow!("stopped")),
        };
        match walked {
            Ok(outcome) => {
                streams.print(&match args.output {
                    ReportFormat::Text => {
                        format!(
                            "\n{}{}",
                            outcome.text(&streams.stdout_palette),
                            next(&outcome, args)
                        )
                    }
                    ReportFormat::Json => outcome.json()? + "\n",
                })?;
                Ok(ExitCode::SUCCESS)
            }
            Err(error) => {
                streams.tell(&way_on(dseq, args));
                Err(error)
            }
        }
    })
}

/// The number of a new deployment.
async fn newest_height(network: &Network) -> anyhow::Result<u64> {
    let status = network.node().status().await?;
    if status.catching_up {
        bail!("the node is catching up and does not know the newest height: use another --node");
    }
    Ok(status.latest_height)
}

fn default_pick(streams: &Streams<'_>) -> Pick {
    if streams.console.is_terminal() { Pick::Ask } else { Pick::Cheapest }
}

/// The SDL: the one that is given, or the one that was kept.
fn source(args: &DeployArgs, kept: &Kept, streams: &mut Streams<'_>) -> anyhow::Result<Source> {
    if let Some(path) = &args.sdl {
        return Ok(Source::read(path, streams.stdin)?);
    }
    let text = kept
        .read()?
        .context("the SDL of this deployment is not kept here: give its path beside --resume")?;
    Ok(Source { name: "the kept SDL".to_owned(), text })
}

async fn close(
    id: DeploymentId,
    kept: &Kept,
    wallet: &Wallet<'_>,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let dseq = id.dseq();
    let found = wallet.network.query().deployment(id).await?.value;
    match found.map(|found| found.deployment.state) {
        Some(DeploymentState::Active) => {
            wallet.send(&[close_deployment(id)]).await.context("cannot close the deployment")?;
            streams.print(&format!(
                "deployment {dseq} is closed; what is left of its deposit was given back\n"
            ))?;
        }
        Some(_) => streams.print(&format!("deployment {dseq} was closed before\n"))?,
        None => streams.print(&format!("there is no deployment {dseq} on chain\n"))?,
    }
    kept.forget();
    Ok(ExitCode::SUCCESS)
}

fn command(what: &str, args: &DeployArgs) -> String {
    format!("provider-services {what} --from {}", args.from)
}

fn next(outcome: &Outcome, args: &DeployArgs) -> String {
    let line = |what: &str| format!("  {}\n", command(what, args));
    let dseq = outcome.id.dseq();
    let services = outcome.leased.iter().flat_map(|leased| leased.status.services.keys());
    let service = services.map(String::as_str).next().unwrap_or("SERVICE");
    let logs = line(&format!("lease-logs --dseq {dseq}"));
    let shell = line(&format!("lease-shell --tty {service} sh --dseq {dseq}"));
    let close = line(&format!("deploy --close {dseq}"));
    format!("\nNext:\n{logs}{shell}{close}")
}

/// What to do with a deployment that does not run yet.
fn way_on(dseq: u64, args: &DeployArgs) -> String {
    format!(
        "\nDeployment {dseq} stays as it is. To go on with it, or to end it:\n  {}\n  {}\n",
        command(&format!("deploy --resume {dseq}"), args),
        command(&format!("deploy --close {dseq}"), args)
    )
}
