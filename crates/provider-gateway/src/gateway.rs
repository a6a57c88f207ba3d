//! The gateway itself: what all its routes share.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use akash_types::{Address, LeaseId};
use http::Extensions;
use provider_engine::cluster::port::Cluster;
use provider_engine::engine::Published;
use subtle::ConstantTimeEq;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;

use crate::auth::Authorizer;
use crate::places::{Budget, Place, Places, client};
use crate::port::{Busy, Identity, Provider};
use crate::rest::Kept;
use crate::tls::Peer;
use crate::turns::{Streams, Turns};

/// What metrics there are, as Prometheus reads them.
pub type Metrics = Arc<dyn Fn() -> String + Send + Sync>;

#[derive(Clone)]
pub struct Settings {
    /// Largest manifest that is read, in bytes.
    pub largest_manifest: usize,
    /// Largest other body that is read, in bytes.
    pub largest_body: usize,
    /// Largest message of gRPC that is read but for manifests, in bytes.
    pub largest_message: usize,
    /// Bytes held for clients that have no lease here; listeners share it.
    pub strangers: Budget,
    /// Bytes held for all requests of tenants.
    pub tenants_bytes: usize,
    /// Bytes held for the requests of one tenant.
    pub tenant_bytes: usize,
    /// How long a body may take to arrive.
    pub body_patience: Duration,
    /// How many streams of tenants may be open at once.
    pub streams: usize,
    pub streams_per_owner: usize,
    pub streams_per_lease: usize,
    /// Bytes that the shells of an owner carry in a second, in both directions together.
    pub shell_bytes_per_second: u32,
    /// Bytes that logs and events of an owner carry in a second.
    pub log_bytes_per_second: u32,
    /// How many streams of what anybody may follow may be open at once.
    pub public_streams: usize,
    pub public_streams_per_client: usize,
    /// How long a stream may last.
    pub stream_lifetime: Duration,
    /// How often a stream shows that it is there. Clients give up after fifteen seconds without.
    pub ping: Duration,
    /// How long a client may leave a stream unread before it is ended.
    pub write_patience: Duration,
    /// What `GET /metrics` answers; `None` if it is not served.
    pub metrics: Option<Metrics>,
    /// What may be shown instead of the provider's own certificate or token to read metrics.
    pub metrics_token: Option<ScrapeToken>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            largest_manifest: 4 << 20,
            largest_body: 256 << 10,
            largest_message: 64 << 10,
            strangers: Budget::default(),
            tenants_bytes: 32 << 20,
            tenant_bytes: 8 << 20,
            body_patience: Duration::from_secs(30),
            streams: 1024,
            streams_per_owner: 128,
            streams_per_lease: 32,
            shell_bytes_per_second: 8 << 20,
            log_bytes_per_second: 64 << 20,
            public_streams: 256,
            public_streams_per_client: 32,
            stream_lifetime: Duration::from_hours(24),
            ping: Duration::from_secs(10),
            write_patience: Duration::from_mins(1),
            metrics: None,
            metrics_token: None,
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
pub struct Gateway<P, C> {
    pub(crate) provider: P,
    pub(crate) cluster: C,
    pub(crate) authorizer: Authorizer,
    pub(crate) settings: Arc<Settings>,
    /// The encoded status of what was published last.
    pub(crate) status: Arc<Kept<Published>>,
    pub(crate) version: Arc<Kept<Identity>>,
    /// One permit for each stream of a tenant.
    streams: Arc<Semaphore>,
    /// How often there was none.
    streams_refused: Arc<AtomicU64>,
    owners: Places<Address>,
    leases: Places<LeaseId>,
    followers: Places<IpAddr>,
    /// Bytes held for requests of tenants.
    pub(crate) tenants: Places<Address>,
    /// The one place for reading a large document.
    pub(crate) reading: Arc<Semaphore>,
    /// Where they wait for one another.
    carrying: Streams,
    stopping: Arc<watch::Sender<bool>>,
}

impl<P: Provider, C: Cluster> Gateway<P, C> {
    /// A gateway to `provider` and to what runs in `cluster`.
    pub fn new(provider: P, cluster: C, authorizer: Authorizer, settings: Settings) -> Self {
        let streams = Arc::new(Semaphore::new(settings.streams));
        Self {
            provider,
            cluster,
            authorizer,
            status: Arc::default(),
            version: Arc::default(),
            owners: Places::new(settings.streams, settings.streams_per_owner),
            leases: Places::new(settings.streams, settings.streams_per_lease),
            followers: Places::new(settings.public_streams, settings.public_streams_per_client),
            tenants: Places::new(settings.tenants_bytes, settings.tenant_bytes),
            streams,
            streams_refused: Arc::default(),
            reading: Arc::new(Semaphore::new(1)),
            carrying: Streams::default(),
            stopping: Arc::new(watch::Sender::new(false)),
            settings: Arc::new(settings),
        }
    }

    /// Ends all streams, and waits until they are gone. What is asked meanwhile is still answered.
    pub async fn stop(&self) {
        self.stopping.send_replace(true);
        let all = u32::try_from(self.settings.streams).unwrap_or(u32::MAX);
        // A semaphore that nobody closes only fails to wait.
        let _ = self.streams.acquire_many(all).await;
    }

    /// How often each limit of requests and streams refused a client since the start.
    pub fn limit_hits(&self) -> [(&'static str, u64); 9] {
        let strangers = self.settings.strangers.refused();
        let (tenants, followers) = (self.tenants.refused(), self.followers.refused());
        [
            ("stranger-bytes", strangers.all),
            ("stranger-bytes-per-client", strangers.share),
            ("tenant-bytes", tenants.all),
            ("tenant-bytes-per-owner", tenants.share),
            ("streams", self.streams_refused.load(Ordering::Relaxed)),
            ("streams-per-owner", self.owners.refused().share),
            ("streams-per-lease", self.leases.refused().share),
            ("public-streams", followers.all),
            ("public-streams-per-client", followers.share),
        ]
    }

    /// Room for one more stream of a lease, or of a tenant that named none.
    pub(crate) fn stream_permit(&self, lease: Option<LeaseId>) -> Result<StreamPermit, Busy> {
        let all = self.streams.clone().try_acquire_owned().map_err(|_| {
            self.streams_refused.fetch_add(1, Ordering::Relaxed);
            Busy::Full
        })?;
        let shares = match lease {
            None => None,
            Some(lease) => {
                let owner = self.owners.take(lease.owner(), 1).map_err(|_| Busy::Full)?;
                Some((owner, self.leases.take(lease, 1).map_err(|_| Busy::Full)?))
            }
        };
        Ok(StreamPermit { _all: all, _shares: shares })
    }

    /// Room for one more stream of what anybody may follow.
    pub(crate) fn public_stream(&self, extensions: &Extensions) -> Result<Place<IpAddr>, Busy> {
        self.followers.take(client(address_of(extensions)), 1).map_err(|_| Busy::Full)
    }

    /// Where a shell of a lease waits for other streams.
    pub(crate) fn shell_turns(&self, lease: LeaseId) -> Turns {
        self.carrying.turns(lease.owner(), self.settings.shell_bytes_per_second)
    }

    /// Where logs or events of a lease wait for other streams.
    pub(crate) fn log_turns(&self, lease: LeaseId) -> Turns {
        self.carrying.turns(lease.owner(), self.settings.log_bytes_per_second)
    }

    /// When a stream that begins now has to end.
    pub(crate) fn stream_end(&self) -> Instant {
        let now = Instant::now();
        now.checked_add(self.settings.stream_lifetime).unwrap_or(now)
    }

    /// Becomes true when streams have to end.
    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }
}

/// Room that a stream of a tenant takes.
#[derive(Debug)]
pub(crate) struct StreamPermit {
    _all: OwnedSemaphorePermit,
    _shares: Option<(Place<Address>, Place<LeaseId>)>,
}

/// Where a request comes from.
pub(crate) fn address_of(extensions: &Extensions) -> IpAddr {
    let peer = extensions.get::<Arc<Peer>>();
    peer.map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.address.ip())
}

/// A word that a monitoring system shows as a bearer token.
#[derive(Clone)]
pub struct ScrapeToken(Arc<str>);

impl ScrapeToken {
    /// `None` if there is nothing but white space in it.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.into()))
    }

    /// True if `Authorization` shows it. Takes as long for a wrong one as for the right one.
    pub(crate) fn is_shown(&self, authorization: Option<&[u8]>) -> bool {
        let wanted = format!("Bearer {}", self.0);
        wanted.as_bytes().ct_eq(authorization.unwrap_or_default()).into()
    }
}

impl std::fmt::Debug for ScrapeToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ScrapeToken(…)")
    }
}

impl<P, C> std::fmt::Debug for Gateway<P, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// How long nothing is accepted after accepting failed: mostly for want of file descriptors, which
/// another attempt at once would not have either.
const PAUSE: Duration = Duration::from_millis(100);

/// The next connection. May be dropped and called again.
pub(crate) async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}
