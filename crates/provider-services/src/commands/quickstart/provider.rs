//! The provider: on a simulated cluster, registered, at work.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use akash_chain::tx::message::provider::{create_provider, update_provider};
use akash_keys::SecretKey;
use akash_types::{Address, Attribute, Provider};
use anyhow::{Context, bail};
use provider_daemon::config::{Given, Place as Origin, Value};
use provider_daemon::log::{self, LogFormat, LogSettings};
use provider_sim::core::{ClusterSpec, Delays, Settings};
use provider_sim::server::{Server, ServerConfig};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::stage::LOG;
use crate::chain::{Network, Wallet};
use crate::commands::run::judge;
use crate::commands::tenant::door::{Door, Identity};
use crate::commands::version::FOR_DAEMON;

/// How much faster than a real cluster the simulated one starts things: nobody came to wait.
const SPEED: u32 = 4;
const DOMAIN: &str = "sim.localhost";
/// From one look to the next.
const PAUSE: Duration = Duration::from_millis(100);
/// How long the provider may take until tenants can trust it.
const PATIENCE: Duration = Duration::from_secs(60);

/// The simulated cluster; dropped, it ends.
pub(super) async fn cluster(home: &Path, web: SocketAddr) -> anyhow::Result<Server> {
    let config = ServerConfig {
        state: home.join("sim-cluster.state"),
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        http: web,
        spec: ClusterSpec::small(),
        settings: Settings {
            delays: Delays::default().faster(SPEED),
            domain: Some(DOMAIN.to_owned()),
            ..Settings::default()
        },
        seed: 1,
    };
    Server::start(config).await.context("cannot start the simulated cluster")
}

pub(super) async fn register(wallet: &Wallet<'_>, gateway: SocketAddr) -> anyhow::Result<()> {
    let owner = wallet.address();
    let entry = Provider {
        owner,
        host_uri: format!("https://localhost:{}", gateway.port()),
        attributes: vec![
            Attribute::new("host", "quickstart"),
            Attribute::new("cluster", "simulated"),
        ],
        email: String::new(),
        website: String::new(),
    };
    let message = match wallet.network.query().provider(owner).await?.value {
        None => create_provider(entry)?,
        Some(found) if found.host_uri != entry.host_uri => update_provider(entry)?,
        Some(_) => return Ok(()),
    };
    wallet.send(&[message]).await.context("cannot register the provider")
}

/// Where a provider is, and with whom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) home: &'a Path,
    pub(super) chain_id: &'a str,
    pub(super) node: &'a str,
    pub(super) cluster: SocketAddr,
    pub(super) gateway: SocketAddr,
    pub(super) gateway_grpc: SocketAddr,
}

/// A provider that runs.
pub(super) struct Running {
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<Result<(), provider_daemon::RunError>>,
}

impl Running {
    pub(super) fn start(place: Place<'_>, secret: SecretKey) -> anyhow::Result<Self> {
        let given = Given {
            values: settings(&place),
            signer: Some(Ok(secret.public_key().address())),
            seed: 1,
            ..Given::default()
        };
        let (config, _) = judge(&given).map_err(|errors| {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            anyhow::anyhow!("the provider cannot run: {}", errors.join("; "))
        })?;
        let (stop, stopped) = oneshot::channel::<()>();
        // Nobody changes its settings; the sender lives as long as it is waited for.
        let (reload, reloads) = mpsc::channel(1);
        let stopping = async move {
            // An error is that whoever could stop it is gone.
            let _ = stopped.await;
            drop(reload);
        };
        let task =
            tokio::spawn(provider_daemon::run(FOR_DAEMON, config, secret, stopping, reloads));
        Ok(Self { stop: Some(stop), task })
    }

    /// Waits until it answers tenants, who know it by the certificate that it published.
    pub(super) async fn trusted(
        &mut self,
        network: &Network,
        provider: Address,
    ) -> anyhow::Result<()> {
        let door = Door { network: Some(network), url: None, authorities: network.trust() };
        let answers = async {
            loop {
                let client = door.client(provider, Identity::Nobody).await?;
                if client.status().await.is_ok() {
                    return anyhow::Ok(());
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        tokio::select! {
            answers = tokio::time::timeout(PATIENCE, answers) => {
                answers.context("the provider does not answer; provider.log says why")?
            }
            ended = self.ended() => ended,
        }
    }

    /// Waits until it ends by itself, which it does only when something is wrong.
    pub(super) async fn ended(&mut self) -> anyhow::Result<()> {
        match (&mut self.task).await? {
            Ok(()) => bail!("the provider ended by itself"),
            Err(error) => Err(error.into()),
        }
    }

    /// Lets it end in order.
    pub(super) async fn stop(mut self) {
        drop(self.stop.take());
        let _ = (&mut self.task).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn settings(place: &Place<'_>) -> BTreeMap<String, Value> {
    let Place { home, chain_id, node, cluster, gateway, gateway_grpc } = *place;
    let settings = [
        ("home", home.display().to_string()),
        ("from", "operator".to_owned()),
        ("keyring-backend", "test".to_owned()),
        ("node", node.to_owned()),
        ("chain-id", chain_id.to_owned()),
        ("cluster", "simulated".to_owned()),
        ("sim-cluster-address", cluster.to_string()),
        ("bid-price-cpu-scale", "0.004".to_owned()),
        ("bid-price-memory-scale", "0.0016".to_owned()),
        ("bid-price-storage-scale", "0.00016".to_owned()),
        ("bid-deposit", "500000uact".to_owned()),
        ("gas-prices", "0.025uakt".to_owned()),
        ("deployment-ingress-static-hosts", "true".to_owned()),
        ("deployment-ingress-domain", DOMAIN.to_owned()),
        ("gateway-listen-address", gateway.to_string()),
        ("gateway-grpc-listen-address", gateway_grpc.to_string()),
    ];
    let value =
        |(name, text): (&str, String)| (name.to_owned(), Value { text, place: Origin::Flag });
    settings.map(value).into_iter().collect()
}

/// Logs to a file in `home` from now on.
pub(super) fn log_in(home: &Path) -> anyhow::Result<()> {
    let path = home.join(LOG);
    let file = std::fs::File::options().create(true).append(true).open(&path);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    let settings = LogSettings { levels: "info".parse()?, format: LogFormat::Plain, colour: false };
    log::start_in(&settings, file)?;
    Ok(())
}
