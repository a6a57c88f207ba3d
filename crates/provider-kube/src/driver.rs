//! The driver: the engine's port over a Kubernetes cluster.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use akash_types::LeaseId;
use k8s_openapi::api::core::v1::Endpoints;
use kube::Client;
use kube_access::{Access, AccessError, Counter, Failure, KubeClient, ResourceKind, Selector};
use provider_engine::cluster::command::{CommandFailure, Operation};
use provider_engine::cluster::port::{
    EventQuery, Exec, ExecFailure, ExecRequest, Execute, Inspect, LeaseStatus, LogQuery, Logs,
    Observe, ReadFailure, ServiceStatus,
};
use provider_engine::cluster::view::Held;
use tokio::task::JoinHandle;

use crate::apply::UnderWay;
use crate::probe::IsolationProbe;
pub use crate::read::events::KubeEvents;
pub use crate::read::exec::{KubeInput, KubeOutput};
pub use crate::read::logs::KubeLines;
use crate::settings::{NetworkPolicies, Settings, SettingsError};
use crate::watch::{KubeChanges, Watches};
use crate::{apply, definitions, read};

/// How long a call may take.
const LIMIT: Duration = Duration::from_secs(10);
/// How often pods are looked for that hold up an update. A tenant waits for it.
const SWEEP: Duration = Duration::from_secs(5);

/// Why a cluster cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("namespace {0:?} does not exist: create it, or set k8s-manifest-ns to another")]
    NoNamespace(String),
    #[error(
        "runtime class {0:?} does not exist: create it, or set tenant-runtime-class to another"
    )]
    NoRuntimeClass(String),
    #[error(
        "the cluster does not know {0} of akash.network/v2beta2: `provider-services crd | kubectl \
         apply -f -` makes it"
    )]
    NoKind(&'static str),
    #[error("the API server at {url} cannot be used: {why}")]
    Unavailable { url: String, why: Failure },
}

impl ConnectError {
    /// Whether it may go by itself.
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Unavailable { why: Failure::Unavailable { .. }, .. })
    }
}

/// A Kubernetes cluster. Every clone is the same one; watches end with the last of them.
#[derive(Clone, Debug)]
pub struct KubeDriver(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: KubeClient,
    streams: Streams,
    settings: Arc<Settings>,
    watches: Watches,
    under_way: UnderWay,
    sweeper: JoinHandle<()>,
}

struct Streams(Client);

impl std::fmt::Debug for Streams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Streams")
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.sweeper.abort();
    }
}

impl KubeDriver {
    /// Makes sure that the cluster can be used, and begins to watch it. Network policies that do
    /// not know the API server yet are told where it is.
    ///
    /// When it cannot be used; [`ConnectError::may_pass`] says whether to try again.
    pub async fn connect(
        access: &Access,
        mut settings: Settings,
        counter: Counter,
    ) -> Result<Self, ConnectError> {
        let client = KubeClient::new(access.client()?, LIMIT, counter);
        let unavailable = |why| ConnectError::Unavailable { url: access.url(), why };
        let own = settings.manifest_namespace.as_str();
        let namespace =
            client.get(ResourceKind::NAMESPACE, None, own).await.map_err(unavailable)?;
        if namespace.is_none() {
            return Err(ConnectError::NoNamespace(own.to_owned()));
        }
        for kind in [ResourceKind::MANIFEST, ResourceKind::HOST, ResourceKind::LEASED_IP] {
            let selector = Selector { labels: "", fields: "metadata.name=is-there-such-a-kind" };
            match client.list::<serde_json::Value>(kind, Some(own), selector).await {
                Ok(_) => {}
                Err(Failure::NotFound(_)) => return Err(ConnectError::NoKind(kind.name)),
                Err(failure) => return Err(unavailable(failure)),
            }
        }
        if let Some(class) = &settings.isolation.runtime_class {
            let found =
                client.get(ResourceKind::RUNTIME_CLASS, None, class).await.map_err(unavailable)?;
            if found.is_none() {
                return Err(ConnectError::NoRuntimeClass(class.clone()));
            }
        }
        if settings.network_policies.as_ref().is_some_and(|it| it.api_server.is_empty()) {
            let api_server = api_server(&client).await.map_err(unavailable)?;
            settings.network_policies = Some(NetworkPolicies { api_server });
        }
        settings.check()?;
        match definitions::lost_fields(&client, own).await {
            Ok(lost) if lost.is_empty() => {}
            Ok(lost) => {
                let (fields, remedy) = (lost.join(", "), definitions::REMEDY);
                tracing::warn!(fields, remedy, "the cluster does not keep these fields");
            }
            Err(failure @ Failure::Unavailable { .. }) => return Err(unavailable(failure)),
            Err(error) => tracing::warn!(%error, "what the cluster keeps cannot be found out"),
        }
        let settings = Arc::new(settings);
        let watches = Watches::start(&client, Arc::clone(&settings));
        let (sweeping, shared) = (client.clone(), Arc::clone(watches.shared()));
        let sweeper = tokio::spawn(async move {
            loop {
                tokio::time::sleep(SWEEP).await;
                apply::free_stuck(&sweeping, &shared).await;
            }
        });
        let streams = Streams(access.client()?);
        Ok(Self(Arc::new(Inner {
            client,
            streams,
            settings,
            watches,
            under_way: UnderWay::default(),
            sweeper,
        })))
    }

    /// Waits until everything was seen, at most so long; whether it was.
    pub async fn is_known_within(&self, limit: Duration) -> bool {
        self.0.watches.is_known(limit).await
    }

    /// What finds out whether tenants of this cluster are kept apart.
    pub fn isolation_probe(&self) -> IsolationProbe {
        let Inner { client, streams, settings, .. } = &*self.0;
        IsolationProbe::new(client.clone(), streams.0.clone(), Arc::clone(settings))
    }

    /// What the operator decided, with what was found out.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }
}

/// Where the API server is, as the cluster tells its pods.
pub(crate) async fn api_server(client: &KubeClient) -> Result<Vec<SocketAddr>, Failure> {
    let kind = ResourceKind { name: "Endpoints", api_version: "v1", plural: "endpoints" };
    let found = client.get(kind, Some("default"), "kubernetes").await?;
    let endpoints = found.and_then(|found| serde_json::from_value::<Endpoints>(found).ok());
    let subsets = endpoints.and_then(|endpoints| endpoints.subsets).unwrap_or_default();
    let addresses = subsets.iter().flat_map(|subset| {
        let ports = subset.ports.iter().flatten();
        ports.flat_map(|port| {
            let port = u16::try_from(port.port).ok();
            let addresses = subset.addresses.iter().flatten();
            addresses.filter_map(move |it| Some(SocketAddr::new(it.ip.parse().ok()?, port?)))
        })
    });
    Ok(addresses.collect())
}

impl Execute for KubeDriver {
    async fn execute(&self, operation: Operation) -> Result<(), CommandFailure> {
        let inner = &*self.0;
        let (shared, under_way) = (inner.watches.shared(), &inner.under_way);
        apply::execute(&inner.client, shared, &inner.settings, under_way, operation).await
    }
}

impl Observe for KubeDriver {
    type Changes = KubeChanges;

    fn observe(&self) -> KubeChanges {
        self.0.watches.changes()
    }
}

impl Inspect for KubeDriver {
    type Events = KubeEvents;

    async fn status(&self, lease: LeaseId) -> Result<LeaseStatus, ReadFailure> {
        let inner = &*self.0;
        read::status::lease(&inner.client, inner.watches.shared(), &inner.settings, lease).await
    }

    async fn service(&self, lease: LeaseId, service: &str) -> Result<ServiceStatus, ReadFailure> {
        let Inner { client, settings, watches, .. } = &*self.0;
        read::status::service(client, watches.shared(), settings, lease, service).await
    }

    async fn manifest(&self, lease: LeaseId) -> Result<Held, ReadFailure> {
        read::status::manifest(self.0.watches.shared(), &self.0.settings, lease)
    }

    async fn events(&self, lease: LeaseId, query: EventQuery) -> Result<KubeEvents, ReadFailure> {
        read::events::events(&self.0.client, self.0.watches.shared(), lease, query).await
    }
}

impl Logs for KubeDriver {
    type Lines = KubeLines;

    async fn logs(&self, lease: LeaseId, query: LogQuery) -> Result<KubeLines, ReadFailure> {
        let Inner { client, streams, watches, .. } = &*self.0;
        read::logs::logs(client, &streams.0, watches.shared(), lease, query)
    }
}

impl Exec for KubeDriver {
    type Input = KubeInput;
    type Output = KubeOutput;

    async fn exec(
        &self,
        lease: LeaseId,
        request: ExecRequest,
    ) -> Result<(KubeInput, KubeOutput), ExecFailure> {
        let Inner { streams, watches, .. } = &*self.0;
        read::exec::exec(&streams.0, watches.shared(), lease, request).await
    }
}
