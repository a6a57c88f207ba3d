//! Whether tenants are kept apart: real connections from pods like those of tenants.
//!
//! Two namespaces get the network policy that leases get and one pod each, confined as pods of new
//! leases are. Each pod tries to connect to the other, to the API server, to kubelets and to the
//! metadata address of clouds. A target that answers is a finding.
//!
//! [`plan`] decides: which targets, which objects, which commands, and what the answers mean. The rest
//! carries it out. The objects have none of the labels by which leases are found, by this provider
//! or by the Go provider, and are removed in the end; what a killed process left is removed by the
//! next probe.

pub mod plan;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, Pod, Service};
use kube::Client;
use kube::api::{Api, AttachParams};
use kube_access::{Failure, KubeClient, Preconditions, ResourceKind, Selector};
use plan::{Connection, Report, Side, Target};
use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::sync::Mutex;

use crate::driver;
use crate::settings::Settings;

/// How long the pods may take to run; their image may have to be pulled.
const READY: Duration = Duration::from_secs(90);
/// How long namespaces of an earlier probe may take to go.
const GONE: Duration = Duration::from_secs(60);
/// How long the attempts of one pod may take together.
const ATTEMPTS: Duration = Duration::from_secs(20);
/// A target counts as reached when it answers this often in a row: some network plugins enforce
/// policies only a moment after a pod runs.
const ROUNDS: usize = 4;
const PAUSE: Duration = Duration::from_secs(3);
const POLL: Duration = Duration::from_millis(250);
/// Output of the attempts that is read at most.
const MOST_OUTPUT: u64 = 64 << 10;

/// Why nothing is known about the isolation of tenants.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    #[error("{what}: {why}")]
    Api { what: &'static str, why: Failure },
    #[error("namespace {0:?} exists and was not made by a probe: remove or rename it")]
    Taken(String),
    #[error("namespace {0:?} of an earlier probe is still being deleted; try again later")]
    Leftover(String),
    #[error("the probe pod in {namespace:?} is not ready after {} s: {why}", READY.as_secs())]
    NotReady { namespace: String, why: String },
    #[error("the probe pod in {namespace:?} did not make its connections: {why}")]
    Attempts { namespace: String, why: String },
}

fn api(what: &'static str) -> impl Fn(Failure) -> ProbeError {
    move |why| ProbeError::Api { what, why }
}

/// Finds out whether tenants are kept apart. Clones make one probe at a time.
#[derive(Clone)]
pub struct IsolationProbe {
    client: KubeClient,
    streams: Client,
    settings: Arc<Settings>,
    one_at_a_time: Arc<Mutex<()>>,
}

impl std::fmt::Debug for IsolationProbe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IsolationProbe").finish_non_exhaustive()
    }
}

impl IsolationProbe {
    pub(crate) fn new(client: KubeClient, streams: Client, settings: Arc<Settings>) -> Self {
        Self { client, streams, settings, one_at_a_time: Arc::default() }
    }

    /// Makes the connections from pods of `image`, which has to have a shell, `nc`, `timeout` and
    /// `httpd`, as busybox does. Removes the pods whatever comes of it, also when the caller stops
    /// waiting.
    ///
    /// When it could not be found out. That is no finding.
    pub async fn run(&self, image: &str) -> Result<Report, ProbeError> {
        let (probe, image) = (self.clone(), image.to_owned());
        let running = tokio::spawn(async move {
            let _turn = probe.one_at_a_time.lock().await;
            let result = match probe.clear().await {
                Ok(()) => probe.measure(&image).await,
                Err(error) => return Err(error),
            };
            if let Err(error) = probe.remove().await {
                tracing::warn!(%error, "isolation probe: pods were not removed; the next probe does it");
            }
            result
        });
        running.await.unwrap_or_else(|panic| {
            Err(ProbeError::Attempts {
                namespace: Side::A.namespace(),
                why: format!("a bug ended the probe: {panic}"),
            })
        })
    }

    /// Removes what an earlier probe left, and waits until it is gone.
    async fn clear(&self) -> Result<(), ProbeError> {
        self.remove().await?;
        let deadline = tokio::time::Instant::now() + GONE;
        for side in Side::BOTH {
            let name = side.namespace();
            while self.namespace(&name).await?.is_some() {
                if tokio::time::Instant::now() >= deadline {
                    return Err(ProbeError::Leftover(name));
                }
                tokio::time::sleep(POLL).await;
            }
        }
        Ok(())
    }

    /// Has the namespaces deleted that a probe made, and no other.
    async fn remove(&self) -> Result<(), ProbeError> {
        let mut result = Ok(());
        for side in Side::BOTH {
            result = result.and(self.remove_side(side).await);
        }
        result
    }

    async fn remove_side(&self, side: Side) -> Result<(), ProbeError> {
        let name = side.namespace();
        let Some(found) = self.namespace(&name).await? else { return Ok(()) };
        if !plan::is_of_a_probe(&found) {
            return Err(ProbeError::Taken(name));
        }
        let uid = found.pointer("/metadata/uid").and_then(Value::as_str).map(str::to_owned);
        let exactly = Preconditions { uid, resource_version: None };
        let deleted = self.client.delete(ResourceKind::NAMESPACE, None, &name, exactly).await;
        deleted.map_err(api("deleting a namespace of the probe"))
    }

    async fn namespace(&self, name: &str) -> Result<Option<Value>, ProbeError> {
        let found = self.client.get(ResourceKind::NAMESPACE, None, name).await;
        found.map_err(api("looking for the probe's namespaces"))
    }

    async fn measure(&self, image: &str) -> Result<Report, ProbeError> {
        for side in Side::BOTH {
            for (kind, object) in plan::objects(side, image, &self.settings) {
                let namespace = side.namespace();
                let place = (kind != ResourceKind::NAMESPACE).then_some(namespace.as_str());
                let created = self.client.create(kind, place, &object).await;
                created.map_err(api("creating the probe's objects"))?;
            }
        }
        let (a, b) = tokio::try_join!(self.ready(Side::A), self.ready(Side::B))?;
        let shared = self.shared_targets(&[&a, &b]).await?;
        let (from_a, from_b) = (plan::targets(&b, &shared), plan::targets(&a, &shared));
        let (from_a, from_b) =
            tokio::try_join!(self.attempts(&a, from_a), self.attempts(&b, from_b))?;
        Ok(Report { connections: [from_a, from_b].concat() })
    }

    /// The pod of a side, once it runs and answers its node.
    async fn ready(&self, side: Side) -> Result<plan::ProbePod, ProbeError> {
        let namespace = side.namespace();
        let deadline = tokio::time::Instant::now() + READY;
        loop {
            let listed = self
                .client
                .list::<Pod>(ResourceKind::POD, Some(&namespace), Selector::default())
                .await;
            let pods = listed.map_err(api("looking at the probe's pods"))?.items;
            let state = pods.first().map(|pod| plan::ready(side, pod));
            match state {
                Some(Ok(pod)) => return Ok(pod),
                state if tokio::time::Instant::now() >= deadline => {
                    let none = || "it was not created".to_owned();
                    let why = state.and_then(Result::err).unwrap_or_else(none);
                    return Err(ProbeError::NotReady { namespace, why });
                }
                _ => tokio::time::sleep(POLL).await,
            }
        }
    }

    /// What neither pod may reach.
    async fn shared_targets(&self, pods: &[&plan::ProbePod]) -> Result<Vec<Target>, ProbeError> {
        let client = &self.client;
        let servers: Vec<SocketAddr> =
            driver::api_server(client).await.map_err(api("asking for the API server's address"))?;
        let service = client.get(ResourceKind::SERVICE, Some("default"), "kubernetes").await;
        let service = service.map_err(api("asking for the API server's service"))?;
        let service = service.and_then(|found| serde_json::from_value::<Service>(found).ok());
        let nodes = client.list::<Node>(ResourceKind::NODE, None, Selector::default()).await;
        let nodes = nodes.map_err(api("asking for the nodes"))?.items;
        Ok(plan::shared_targets(&servers, service.as_ref(), &nodes, pods))
    }

    /// What became of every target of a pod. Those that answer are tried again.
    async fn attempts(
        &self,
        pod: &plan::ProbePod,
        targets: Vec<Target>,
    ) -> Result<Vec<Connection>, ProbeError> {
        let fail = |why| ProbeError::Attempts { namespace: pod.side.namespace(), why };
        let mut left = targets.clone();
        for round in 0..ROUNDS {
            if round > 0 {
                tokio::time::sleep(PAUSE).await;
            }
            let script = plan::script(&left);
            let output = tokio::time::timeout(ATTEMPTS, self.exec(pod, &script)).await;
            let output = output.map_err(|_| fail("they took too long".to_owned()))?;
            left = plan::reached(&left, &output.map_err(fail)?).map_err(fail)?;
            if left.is_empty() {
                break;
            }
        }
        Ok(plan::connections(pod, &targets, &left))
    }

    /// What a shell command prints in the pod.
    async fn exec(&self, pod: &plan::ProbePod, script: &str) -> Result<String, String> {
        let api: Api<Pod> = Api::namespaced(self.streams.clone(), &pod.side.namespace());
        let how = AttachParams::default().stderr(false);
        let command = ["sh", "-c", script];
        let mut process =
            api.exec(&pod.name, command, &how).await.map_err(|error| error.to_string())?;
        let mut output = String::new();
        let stdout = process.stdout().ok_or("its output cannot be read")?;
        let read = stdout.take(MOST_OUTPUT).read_to_string(&mut output).await;
        read.map_err(|error| error.to_string())?;
        Ok(output)
    }
}
