//! The gateway itself: what all its routes share.

use std::sync::Arc;
use std::time::Duration;

use provider_engine::cluster::port::Cluster;
use provider_engine::engine::Published;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::port::{Gatekeeper, Identity, Provider};
use crate::rest::Kept;

/// What metrics there are, as Prometheus reads them.
pub type Metrics = Arc<dyn Fn() -> String + Send + Sync>;

/// How the gateway behaves.
#[derive(Clone)]
pub struct Settings {
    /// Largest manifest that is read, in bytes.
    pub largest_manifest: usize,
    /// Largest other body that is read, in bytes.
    pub largest_body: usize,
    /// How long a body may take to arrive.
    pub body_patience: Duration,
    /// How many streams may be open at once.
    pub streams: usize,
    /// How often a stream shows that it is there. Clients give up after fifteen seconds without.
    pub ping: Duration,
    /// How long a client may leave a stream unread before it is ended.
    pub write_patience: Duration,
    /// What `GET /metrics` answers; `None` if it is not served.
    pub metrics: Option<Metrics>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            largest_manifest: 4 << 20,
            largest_body: 1 << 20,
            body_patience: Duration::from_secs(30),
            streams: 1024,
            ping: Duration::from_secs(10),
            write_patience: Duration::from_mins(5),
            metrics: None,
        }
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("streams", &self.streams)
            .field("metrics", &self.metrics.is_some())
            .finish_non_exhaustive()
    }
}

/// Where tenants reach the provider. Every clone is the same gateway.
#[derive(Clone)]
pub struct Gateway<P, C, G> {
    pub(crate) provider: P,
    pub(crate) cluster: C,
    pub(crate) gate: G,
    pub(crate) settings: Arc<Settings>,
    /// The encoded status of what was published last.
    pub(crate) status: Arc<Kept<Published>>,
    pub(crate) version: Arc<Kept<Identity>>,
    /// One permit for each stream.
    streams: Arc<Semaphore>,
    stopping: Arc<watch::Sender<bool>>,
}

impl<P: Provider, C: Cluster, G: Gatekeeper> Gateway<P, C, G> {
    /// A gateway to `provider` and to what runs in `cluster`.
    pub fn new(provider: P, cluster: C, gate: G, settings: Settings) -> Self {
        let streams = Arc::new(Semaphore::new(settings.streams));
        Self {
            provider,
            cluster,
            gate,
            settings: Arc::new(settings),
            status: Arc::default(),
            version: Arc::default(),
            streams,
            stopping: Arc::new(watch::Sender::new(false)),
        }
    }

    /// Ends all streams, and waits until they are gone. What is asked meanwhile is still answered.
    pub async fn stop(&self) {
        self.stopping.send_replace(true);
        let all = u32::try_from(self.settings.streams).unwrap_or(u32::MAX);
        // A semaphore that nobody closes only fails to wait.
        let _ = self.streams.acquire_many(all).await;
    }

    /// Room for one more stream, if there is any.
    pub(crate) fn stream_permit(&self) -> Option<OwnedSemaphorePermit> {
        self.streams.clone().try_acquire_owned().ok()
    }

    /// Becomes true when streams have to end.
    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }
}

impl<P, C, G> std::fmt::Debug for Gateway<P, C, G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("settings", &self.settings).finish_non_exhaustive()
    }
}
