//! Everything that runs, from the first port to the last word.

use std::cell::OnceCell;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use akash_chain::query::DeploymentFilter;
use akash_chain::tx::{FeeRule, GasAdjustment};
use akash_keys::SecretKey;
use akash_net::Outbound;
use akash_sdl::Sdl;
use akash_types::{DecCoin, DeploymentId, DeploymentState, EscrowState, LeaseId};
use anyhow::{Context, bail, ensure};
use provider_sim::server::Server;

use super::check::{CHAIN, CHAIN_API, CHAIN_GRPC, GATEWAY, GATEWAY_GRPC, Usual, WEB};
use super::guide::{Guide, earned, environment};
use super::provider::Running;
use super::{check, provider};
use crate::chain::{AccountSigner, Network, Wallet};
use crate::commands::deploy::{Job, Outcome, Pick, Progress, in_coins};
use crate::commands::devnet::{Launched, Pace, launch};
use crate::commands::tenant::AuthType;
use crate::console::Streams;
use crate::output::printable;

const BLOCK_TIME: Duration = Duration::from_millis(500);
const GAS_PRICES: &str = "0.025uakt";
/// How long anything may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// From one look at the earnings to the next.
const TICK: Duration = Duration::from_secs(1);
/// The same where nobody watches.
const SLOW_TICK: Duration = Duration::from_secs(30);

const HELLO: &str = include_str!("../../../../../examples/hello.yaml");
/// What the second SDL has beside the first: a change that needs no new order.
const CHANGE: (&str, &str) =
    ("    expose:\n", "    env:\n      - GREETING=hello again\n    expose:\n");

/// A chain, a cluster and a provider that run.
pub(super) struct Stage<'a> {
    home: &'a Path,
    /// Where hostnames of leases answer.
    web: SocketAddr,
    progress: Progress,
    chain: Launched,
    network: Network,
    cluster: Server,
    provider: Running,
    tenant: SecretKey,
}

impl<'a> Stage<'a> {
    /// Starts everything, and tells each step.
    pub(super) async fn set(home: &'a Path, streams: &mut Streams<'_>) -> anyhow::Result<Self> {
        let progress = Progress::begin();
        let (strong, warning) = (streams.stderr_palette.strong, streams.stderr_palette.warning);
        streams.tell(&format!(
            "{strong}A chain, a provider and a tenant on this machine{strong:#}\n\
             {warning}The cluster is SIMULATED: nothing really runs in it.{warning:#}\n\n"
        ));
        let usual = [CHAIN, CHAIN_GRPC, CHAIN_API];
        let (chain, [rpc, grpc, api]) = check::start(usual, async |[rpc, grpc, api]| {
            launch(home, Pace { rpc, grpc, api, block_time: BLOCK_TIME }).await
        })
        .await?;
        let named = [(CHAIN, rpc), (CHAIN_GRPC, grpc), (CHAIN_API, api)];
        tell_taken(&named, &progress, streams);
        let text = format!("chain {} makes a block every {BLOCK_TIME:?}, at {rpc}", chain.chain_id);
        progress.done(&text, streams);
        let node = format!("http://{rpc}");
        let network = Network::new(&node, None, false, &Outbound::default())?;
        let secret = |name: &str| anyhow::Ok(chain.keyring.get(name)?.secret_key()?);
        let (operator, tenant) = (secret("operator")?, secret("tenant")?);
        progress.done("keys of an operator and a tenant, with coins", streams);

        let (cluster, [web]) =
            check::start([WEB], async |[web]| provider::cluster(home, web).await).await?;
        tell_taken(&[(WEB, web)], &progress, streams);
        progress.done("SIMULATED cluster of three machines", streams);
        let wallet = wallet(&network, operator.clone(), &chain.chain_id)?;
        provider::log_in(home)?;
        let place = |gateway, gateway_grpc| provider::Place {
            home,
            chain_id: &chain.chain_id,
            node: &node,
            cluster: cluster.address(),
            gateway,
            gateway_grpc,
        };
        let (provider, [gateway, gateway_grpc]) =
            check::start([GATEWAY, GATEWAY_GRPC], async |[gateway, grpc]| {
                provider::register(&wallet, gateway).await?;
                let mut running = Running::start(place(gateway, grpc), operator.clone())?;
                running.trusted(&network, wallet.address()).await?;
                Ok(running)
            })
            .await?;
        let named = [(GATEWAY, gateway), (GATEWAY_GRPC, gateway_grpc)];
        tell_taken(&named, &progress, streams);
        progress.done(&format!("provider {} registered", wallet.address()), streams);
        let text = format!("provider at work, certificate published, at {gateway}");
        progress.done(&text, streams);
        let program = std::env::current_exe().context("cannot find this program")?;
        let env = environment(home, &program, &node, &chain.chain_id);
        std::fs::write(home.join("env"), env).context("cannot write the environment")?;
        std::fs::write(home.join("hello.yaml"), HELLO).context("cannot write the SDL")?;
        let second = HELLO.replacen(CHANGE.0, CHANGE.1, 1);
        std::fs::write(home.join("hello-2.yaml"), second).context("cannot write the SDL")?;
        Ok(Self { home, web, progress, chain, network, cluster, provider, tenant })
    }

    /// Deploys, shows what runs and what to try; then tries it, or goes on until it is stopped.
    pub(super) async fn show(
        &mut self,
        once: bool,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<()> {
        let outcome = self.deploy(streams).await?;
        let leased = outcome.leased.first().context("nothing was leased")?;
        let (service, host) = leased
            .status
            .services
            .values()
            .find_map(|service| Some((&service.name, service.uris.as_ref()?.first()?)))
            .context("no service has a hostname")?;
        let url = format!("http://{host}:{}/", self.web.port());
        let body = check::page(self.web, host).await.with_context(|| url.clone())?;
        ensure!(body.contains("SIMULATED"), "{url} does not say that it is simulated: {body}");
        self.progress.done(&format!("{url} answers"), streams);

        let guide = Guide {
            home: self.home,
            dseq: outcome.id.dseq(),
            service,
            url: &url,
            has_curl: check::has_curl().await,
        };
        let palette = streams.stdout_palette;
        let (frame, warning) = (palette.frame, palette.warning);
        let said = body.lines().take(1).map(|line| format!("  {frame}|{frame:#} {line}\n"));
        streams.print(&format!(
            "\n{}\n{url}\n{}\n{warning}SIMULATED:{warning:#} chain, bids, lease and payments are \
             real here, the container is not.\n",
            outcome.text(&palette),
            said.collect::<String>()
        ))?;
        streams.print(&guide.render(&palette))?;
        let lease = leased.id;
        if once {
            return self.try_all(&guide, lease, streams).await;
        }
        streams.print(
            "\nThe provider's log is provider.log in the same directory. Ctrl-C ends it all.\n\n",
        )?;
        self.earn(lease, streams).await
    }

    /// Lets the provider end in order, then everything else.
    pub(super) async fn stop(self) {
        self.provider.stop().await;
    }

    async fn deploy(&self, streams: &mut Streams<'_>) -> anyhow::Result<Outcome> {
        let wallet = wallet(&self.network, self.tenant.clone(), &self.chain.chain_id)?;
        let Ok(sdl) = Sdl::read(HELLO) else { bail!("the SDL of the quickstart is not valid") };
        let job = Job {
            wallet: &wallet,
            secret: &self.tenant,
            home: self.home,
            id: self.deployment(&wallet, &sdl).await?,
            sdl: &sdl,
            deposit: None,
            pick: Pick::Cheapest,
            auth: AuthType::Jwt,
            timeout: PATIENCE,
            bid_wait: Duration::ZERO,
            block_time: OnceCell::new(),
        };
        job.run(&self.progress, streams).await
    }

    /// The deployment that an earlier start left running, or a new one.
    async fn deployment(&self, wallet: &Wallet<'_>, sdl: &Sdl) -> anyhow::Result<DeploymentId> {
        let owner = wallet.address();
        let filter = DeploymentFilter {
            owner: Some(owner),
            state: Some(DeploymentState::Active),
            ..DeploymentFilter::default()
        };
        let found = self.network.query().deployments(filter).await?.value.items;
        let hash = sdl.version();
        let same = found.iter().find(|found| found.deployment.hash == *hash.as_bytes());
        if let Some(found) = same {
            return Ok(found.deployment.id);
        }
        let height = self.network.node().status().await?.latest_height;
        Ok(DeploymentId::new(owner, height)?)
    }

    /// Runs every line that was shown, and looks whether money came in meanwhile.
    async fn try_all(
        &self,
        guide: &Guide<'_>,
        lease: LeaseId,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<()> {
        streams.tell("\n");
        let (before, _) = self.earned(lease).await?;
        let prepare = guide.prepare();
        let tries = guide.tries();
        let (last, others) = tries.split_last().context("there is nothing to try")?;
        for tried in others {
            check::line(&prepare, tried).await?;
            self.progress.done(&tried.line, streams);
        }
        let (after, _) = self.earned(lease).await?;
        ensure!(
            after.amount() > before.amount(),
            "the lease earned {before} and then {after}: nothing comes in"
        );
        self.progress.done(&format!("earned {}", in_coins(&after)), streams);
        check::line(&prepare, last).await?;
        self.progress.done(&last.line, streams);
        Ok(())
    }

    /// Shows what the lease earns, for as long as it is there.
    async fn earn(&mut self, lease: LeaseId, streams: &mut Streams<'_>) -> anyhow::Result<()> {
        let watched = streams.stdout_palette.is_coloured();
        loop {
            if let Ok((earned, is_paid)) = self.earned(lease).await {
                let closed = if is_paid { "" } else { "; the lease is closed" };
                let line = format!("the provider has earned {}{closed}", in_coins(&earned));
                match watched {
                    true => streams.print(&format!("\r{line:<60}"))?,
                    false => streams.print(&format!("{line}\n"))?,
                }
            }
            tokio::select! {
                () = tokio::time::sleep(if watched { TICK } else { SLOW_TICK }) => {}
                ended = self.chain.devnet.ended() => ended.context("the chain ended by itself")?,
                ended = self.cluster.ended() => ended.context("the cluster ended by itself")?,
                ended = self.provider.ended() => ended?,
            }
        }
    }

    /// What a lease has earned, and whether it goes on doing so.
    async fn earned(&self, lease: LeaseId) -> anyhow::Result<(DecCoin, bool)> {
        let query = self.network.query();
        let found = query.lease(lease).await?.value.context("the lease is gone")?;
        let payment = found.payment.context("the lease has no payment")?;
        let account = query.deployment(lease.deployment_id()).await?.value;
        let account = account.and_then(|found| found.account).context("no escrow account")?;
        let height = self.network.node().status().await?.latest_height;
        let earned = earned(&payment, account.settled_at, height);
        let earned = earned.context("the amounts are too large")?;
        Ok((earned, payment.state == EscrowState::Open))
    }
}

fn tell_taken(ports: &[(Usual, SocketAddr)], progress: &Progress, streams: &mut Streams<'_>) {
    for note in ports.iter().filter_map(|(usual, chosen)| usual.note(*chosen)) {
        progress.waiting(&note, streams);
    }
}

fn wallet<'a>(
    network: &'a Network,
    secret: SecretKey,
    chain_id: &'a str,
) -> anyhow::Result<Wallet<'a>> {
    let fees = FeeRule::parse("", GAS_PRICES)?;
    let signer = AccountSigner::new(secret);
    Ok(Wallet::new(network, signer, chain_id, fees, GasAdjustment::default()))
}

/// What the provider's log is called in it.
pub(super) const LOG: &str = "provider.log";
const MARK: &str = "genesis.json";
/// How many lines of the log are shown when something went wrong.
const LAST: usize = 10;

/// A directory, removed at the end unless somebody named it.
#[derive(Debug)]
pub(super) enum Place {
    Named(PathBuf),
    Passing(tempfile::TempDir),
}

impl Place {
    pub(super) fn make(named: Option<&Path>) -> anyhow::Result<Self> {
        match named {
            Some(path) => {
                std::fs::create_dir_all(path)
                    .with_context(|| format!("cannot create {}", path.display()))?;
                if !is_ours(path)? {
                    bail!(
                        "{} holds something else than a quickstart: give a --home that is new or \
                         empty",
                        path.display()
                    );
                }
                // Printed commands work from anywhere.
                Ok(Self::Named(std::path::absolute(path)?))
            }
            None => {
                let made = tempfile::Builder::new().prefix("akash-").tempdir();
                Ok(Self::Passing(made.context("cannot make a directory to work in")?))
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Named(path) => path,
            Self::Passing(folder) => folder.path(),
        }
    }

    /// What the provider said last, for who wants to know what went wrong.
    pub(super) fn last_words(&self) -> String {
        let log = std::fs::read_to_string(self.path().join(LOG)).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines.get(lines.len().saturating_sub(LAST)..).unwrap_or_default();
        if last.is_empty() {
            return String::new();
        }
        let last: String = last.iter().map(|line| format!("  {}\n", printable(line))).collect();
        format!("\nThe provider's last words:\n{last}")
    }

    /// Where it stays, if it does.
    pub(super) fn kept(&self) -> Option<&Path> {
        match self {
            Self::Named(path) => Some(path),
            Self::Passing(_) => None,
        }
    }
}

/// Whether a directory is empty, or an earlier quickstart's.
fn is_ours(path: &Path) -> anyhow::Result<bool> {
    let mut entries =
        std::fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(entries.next().is_none() || path.join(MARK).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_somebody_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("new");
        assert_eq!(Place::make(Some(&home)).unwrap().kept(), Some(home.as_path()));
        std::fs::write(home.join("keys"), "precious").unwrap();
        let refused = Place::make(Some(&home)).unwrap_err().to_string();
        assert!(refused.contains("holds something else"), "{refused}");
        std::fs::write(home.join(MARK), "{}").unwrap();
        assert!(Place::make(Some(&home)).is_ok());
    }

    #[test]
    fn what_nobody_named_is_gone_at_the_end() {
        let place = Place::make(None).unwrap();
        let path = place.path().to_owned();
        let lines: String = (0..12).map(|number| format!("line {number}\n")).collect();
        std::fs::write(path.join(LOG), lines).unwrap();
        let last = place.last_words();
        assert!(last.contains("  line 2\n") && !last.contains("line 1\n"), "{last}");
        drop(place);
        assert!(!path.exists());
    }
}
