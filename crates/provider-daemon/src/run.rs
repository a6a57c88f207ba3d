//! A provider from its settings to its end.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use akash_keys::SecretKey;
use akash_types::Backoff;
use kube_access::{Access, AccessError, Counter, KubeClient};
use provider_bus::Bus;
use provider_engine::OperatorRequest;
use provider_engine::cluster::port::Cluster;
use provider_engine::cluster::recognition::Memory;
use provider_engine::order::pricing::{ScriptFailure, ScriptRequest};
use provider_gateway::certs::Vault;
use provider_kube::{ConnectError, KubeDriver, SecretEntry};
use provider_operators::hostname::HostnameOperator;
use provider_sim::core::{ClusterSpec, Settings as SimSettings};
use provider_sim::remote::RemoteDriver;
use provider_sim::server::{Server, ServerConfig, ServerError};
use tokio::sync::mpsc;

use crate::announce::{Announcer, hear, log_losses, show_connection};
use crate::config::{self, Config, PriceScript, Reload, Simulated};
use crate::ctl::{BindError, CtlServer};
use crate::descriptors;
use crate::engine_task::Script;
use crate::gateway::{self, GatewayError, Served};
use crate::health::{HealthServer, Limits, Probe};
use crate::isolation::{Isolation, SecretVault};
use crate::keeper::Keeper;
use crate::metrics::Metrics;
use crate::overseer::{Identity, Overseer};
use crate::part::Lifecycle;
use crate::script::{ScriptSettings, Scripts, environment};
use crate::start::{Ended, Setup, StartError, start};
use crate::store::{Found, OpenError, Opened, Retention, Store};

/// Pauses between tries to reach Kubernetes: the first, and the longest.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(1), most: Duration::from_secs(30) };
/// How long a call about a route or a certificate may take.
const CALL_LIMIT: Duration = Duration::from_secs(10);

/// Why a provider does not run, or runs no more.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("{0}")]
    Config(#[from] config::ConfigError),
    #[error("cannot open the store")]
    Store(#[from] OpenError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("cannot start the simulated cluster")]
    Simulated(#[from] ServerError),
    #[error(transparent)]
    Kubernetes(#[from] ConnectError),
    #[error("cannot listen for the operator")]
    Socket(#[from] BindError),
    #[error("cannot listen for metrics on {address}")]
    Metrics {
        address: std::net::SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
    #[error(transparent)]
    Gateway(#[from] GatewayError),
    #[error("the system has no randomness")]
    Randomness,
    #[error("{0}; start the provider again: nothing that matters is lost")]
    Ended(Ended),
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Build {
    /// The commit; empty where it is not known.
    pub commit: &'static str,
    /// The compiler, as it names itself.
    pub compiler: &'static str,
}

/// Runs a provider until `stop` is ready, or a part of it ends that must not.
pub async fn run(
    build: Build,
    config: Config,
    key: SecretKey,
    stop: impl Future<Output = ()>,
    reloads: mpsc::Receiver<Reload>,
) -> Result<(), RunError> {
    config.startable()?;
    descriptors::raise();
    let metrics = Arc::new(Metrics::new());
    match &config.cluster {
        config::Cluster::Simulated(Simulated::At(address)) => {
            let cluster = RemoteDriver::new(*address);
            run_on(cluster, Beside::of(build), metrics, config, key, stop, reloads).await
        }
        config::Cluster::Simulated(Simulated::Inside(state)) => {
            let server = Server::start(inside(&config, state.clone())).await?;
            tracing::warn!(
                http = %server.http_address(),
                "the cluster is simulated: nothing really runs; hostnames of leases answer here"
            );
            run_on(server.driver(), Beside::of(build), metrics, config, key, stop, reloads).await
        }
        config::Cluster::Kubernetes => {
            let mut stop = std::pin::pin!(stop);
            let cluster = tokio::select! {
                cluster = kubernetes(&config, &metrics) => cluster?,
                () = &mut stop => return Ok(()),
            };
            let mut beside = beside(&config, &metrics, build).await.map_err(ConnectError::from)?;
            beside.isolation = Some(Isolation {
                probe: cluster.isolation_probe(),
                image: config.kubernetes.probe.image.clone(),
                required_every: config.kubernetes.probe.required_every,
            });
            run_on(cluster, beside, metrics, config, key, stop, reloads).await
        }
        // Refused above.
        config::Cluster::Swarm => Ok(()),
    }
}

/// A Kubernetes cluster, once it answers: it may be started later than we are.
async fn kubernetes(config: &Config, metrics: &Arc<Metrics>) -> Result<KubeDriver, ConnectError> {
    let access = Access::find(&config.kubernetes.kubeconfig, &config.outbound).await?;
    let mut failures = 0_u32;
    loop {
        match KubeDriver::connect(&access, config.kube_settings(), counter(metrics)).await {
            Ok(driver) => {
                tracing::info!(url = access.url(), "the cluster is Kubernetes");
                return Ok(driver);
            }
            Err(error) if error.may_pass() => {
                failures = failures.saturating_add(1);
                let pause = BACKOFF.within(failures, u64::from(std::process::id()));
                tracing::warn!(%error, seconds = pause.as_secs(), "the cluster does not answer; waiting");
                tokio::time::sleep(pause).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// What runs beside the workloads: Kubernetes clients other than the driver, and what the gateway
/// takes.
struct Beside {
    /// Makes routes of hostnames, unless another process does.
    hostnames: Option<HostnameOperator>,
    isolation: Option<Isolation>,
    gateway: gateway::Context,
}

impl Beside {
    /// Without Kubernetes.
    fn of(build: Build) -> Self {
        Self {
            hostnames: None,
            isolation: None,
            gateway: gateway::Context { build, ..Default::default() },
        }
    }
}

async fn beside(
    config: &Config,
    metrics: &Arc<Metrics>,
    build: Build,
) -> Result<Beside, AccessError> {
    let access = Access::find(&config.kubernetes.kubeconfig, &config.outbound).await?;
    let client = KubeClient::new(access.client()?, CALL_LIMIT, counter(metrics));
    let hostnames = config.hostname_settings();
    let hostnames = hostnames.map(|settings| HostnameOperator::new(client.clone(), settings));
    let vault = config.kubernetes.certificate_secret.clone().map(|secret| {
        let key = format!("{}.pem", config.provider);
        let entry = SecretEntry::new(client.clone(), secret.namespace, secret.name, key);
        Arc::new(SecretVault(entry)) as Arc<dyn Vault>
    });
    let gateway = gateway::Context { build, vault, api_server: Some(client) };
    Ok(Beside { hostnames, isolation: None, gateway })
}

fn counter(metrics: &Arc<Metrics>) -> Counter {
    let metrics = Arc::clone(metrics);
    Arc::new(move |action: &str, is_well| metrics.kube_call(action, is_well))
}

/// A simulated cluster in this process.
fn inside(config: &Config, state: std::path::PathBuf) -> ServerConfig {
    let any = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let domain = config.ingress.generated_under.clone();
    ServerConfig {
        state,
        listen: any,
        http: any,
        spec: ClusterSpec::small(),
        settings: SimSettings {
            domain: domain.or_else(|| Some("sim.localhost".to_owned())),
            ..SimSettings::default()
        },
        seed: config.engine.seed,
    }
}

async fn run_on<C: Cluster>(
    cluster: C,
    Beside { hostnames, isolation, gateway: context }: Beside,
    metrics: Arc<Metrics>,
    config: Config,
    key: SecretKey,
    stop: impl Future<Output = ()>,
    mut reloads: mpsc::Receiver<Reload>,
) -> Result<(), RunError> {
    let identity = Identity {
        provider: config.provider,
        chain_id: config.chain.chain_id.clone(),
        cluster: config.cluster.name(),
        started: Instant::now(),
    };
    let (store, problem) = open_store(&config.store)?;
    let store = Arc::new(store);
    let cursor = store.cursor().unwrap_or_else(|error| {
        tracing::warn!(%error, "the store does not say which block was seen last");
        None
    });
    let memory = store.memory().unwrap_or_else(|error| {
        tracing::warn!(%error, "the store does not say what was deployed");
        Memory::default()
    });
    let (bus, link) = match config.bus.clone() {
        None => (Bus::in_process(), None),
        Some(target) => {
            let (bus, link) =
                Bus::over_redis(target, "provider").map_err(|_| RunError::Randomness)?;
            (bus, Some(link.trusting(config.outbound.trust().clone())))
        }
    };
    let ctl = CtlServer::bind(&config.ctl_socket).await?;
    let health = match config.metrics {
        None => None,
        Some(address) => {
            let bound = HealthServer::bind(address, Limits::default()).await;
            Some(bound.map_err(|source| RunError::Metrics { address, source })?)
        }
    };

    let script = PriceScripts::new(config.script.as_ref());
    let parts = crate::part::Parts::default();
    let part = parts.begin("store");
    part.is(Lifecycle::Running);
    if let Some(problem) = problem {
        part.has_problem(problem);
    }
    let announcer = Announcer::new(bus.clone(), config.provider, config.chain.chain_id.clone());
    let lane = announcer.lane();
    let witness = Keeper::new(Arc::clone(&store), Arc::clone(&metrics), announcer, part);
    let mut running = start(Setup {
        engine: config.engine.clone(),
        follow: config.chain.follow(),
        grpc: config.chain.grpc.clone(),
        query_limit: config.chain.query_timeout,
        lane: config.chain.lane.clone(),
        signer: key.clone(),
        cluster: cluster.clone(),
        script: script.clone(),
        witness,
        memory,
        cursor,
        parts,
    })?;
    // Set once, here.
    let _ = lane.set(running.lane());
    let overseer = Overseer {
        identity,
        readiness: running.readiness(),
        handle: running.handle(),
        parts: running.parts(),
        chain: running.chain(),
        lane: running.lane(),
        bus: bus.status(),
        store,
        metrics,
        gateway: Arc::default(),
        hostnames: hostnames.clone(),
        isolation: isolation.clone(),
    };
    let probe = overseer.clone();
    let metrics: provider_gateway::Metrics =
        Arc::new(move || probe.metrics(crate::metrics::Format::default()));
    let Served { counters, identity } =
        gateway::serve(&mut running, &config, &key, cluster, script.clone(), metrics, context)
            .await?;
    let counters = overseer.gateway.get_or_init(|| counters).clone();
    running.spawn("gateway log", counters.log_limit_hits());
    running.spawn("operator socket", ctl.serve(Arc::new(overseer.clone())));
    if let Some(health) = health {
        let probe = overseer.clone();
        running.spawn("metrics listener", async move { match health.run(probe).await {} });
    }
    if let Some(hostnames) = hostnames.clone() {
        running.spawn("hostname operator", async move { match hostnames.run().await {} });
    }
    if let Some(isolation) = isolation
        && let Some(period) = isolation.required_every
    {
        let engine = running.handle();
        running.also("isolation probe", move |part| {
            isolation.clone().watch(period, engine.clone(), part)
        });
    }
    if let Some(link) = link {
        let (status, part) = (bus.status(), running.parts().begin("bus"));
        running.spawn("bus", async move {
            tokio::select! {
                never = link.run() => match never {},
                () = log_losses(status.clone()) => {}
                () = show_connection(status, part) => {}
            }
        });
    }
    let reread = running.reread();
    running.also("bus listener", move |part| {
        part.is(Lifecycle::Running);
        hear(bus.clone(), Arc::clone(&reread))
    });

    let mut stop = std::pin::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => {
                tracing::info!("stopping; bids, leases and workloads stay as they are");
                running.stop().await;
                return Ok(());
            }
            ended = running.ended() => return Err(RunError::Ended(ended)),
            Some(reload) = reloads.recv() => {
                if let Some(hostnames) = &hostnames {
                    hostnames.block(reload.settings.manifest.blocked.clone());
                }
                // Before the engine asks it for prices.
                script.replace(reload.script.as_ref());
                gateway::offer_window(&identity, reload.settings.reclamation_window);
                let request = OperatorRequest::Settings(Box::new(reload.settings));
                if let Err(error) = overseer.handle.operator(request).await {
                    tracing::warn!(%error, "the new settings were not taken over");
                }
            }
        }
    }
}

/// The store, and the problem with it, if it is one in memory because the disk is full: chain and
/// cluster hold all that the provider needs.
pub(crate) fn open_store(path: &std::path::Path) -> Result<(Store, Option<String>), OpenError> {
    let Opened { store, found } = match Store::open(path, Retention::default()) {
        Err(error) if error.is_full() => {
            let store = Store::in_memory(Retention::default())?;
            tracing::error!(
                %error,
                "disk full: journal and history are kept in memory until the next start; free \
                 space and restart the provider"
            );
            return Ok((store, Some(format!("kept in memory: {error}"))));
        }
        opened => opened?,
    };
    match found {
        Found::Fresh => tracing::info!(path = %path.display(), "a new store is begun"),
        Found::SetAside { moved_to, why } => tracing::error!(
            moved_to = %moved_to.display(),
            why,
            "the store could not be used and was set aside; history begins anew"
        ),
        found => tracing::info!(?found, "the store was opened"),
    }
    Ok((store, None))
}

/// The price script of the settings that hold now. Clones share it.
#[derive(Clone, Debug)]
struct PriceScripts(Arc<RwLock<Option<Scripts>>>);

impl PriceScripts {
    fn new(script: Option<&PriceScript>) -> Self {
        Self(Arc::new(RwLock::new(script.map(scripts))))
    }

    /// Takes over another script, or other limits of the same one; runs that have begun go on as
    /// they were. Settings without a script leave the last one, which nothing asks then.
    fn replace(&self, script: Option<&PriceScript>) {
        let Some(new) = script.map(scripts) else { return };
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_none_or(|old| old.settings() != new.settings()) {
            *current = Some(new);
        }
    }

    fn current(&self) -> Result<Scripts, ScriptFailure> {
        let current = self.0.read().unwrap_or_else(PoisonError::into_inner);
        current.clone().ok_or_else(no_script)
    }
}

fn scripts(script: &PriceScript) -> Scripts {
    let variables = environment(std::env::vars_os(), &[]);
    Scripts::new(ScriptSettings {
        time_limit: script.timeout,
        processes: script.process_limit.get(),
        ..ScriptSettings::new(script.path.clone(), variables)
    })
}

impl Script for PriceScripts {
    async fn ask(&self, request: ScriptRequest) -> Result<Vec<u8>, ScriptFailure> {
        self.current()?.ask(request).await.result
    }

    async fn screen(&self, request: ScriptRequest) -> Option<Result<Vec<u8>, ScriptFailure>> {
        match self.current() {
            Ok(scripts) => scripts.screen(request).await.map(|ran| ran.result),
            Err(failure) => Some(Err(failure)),
        }
    }
}

fn no_script() -> ScriptFailure {
    ScriptFailure::NotRun("no script is configured; set --bid-price-script-path".to_owned())
}
