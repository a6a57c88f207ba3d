//! Attacks on a running provider, and an honest tenant meanwhile.
//!
//! ```text
//! Stage    a network with a provider, an honest tenant's lease and leases of a hostile one
//! Attack   one way to take memory, time or places from others, again and again until stopped
//! Honest   asks for the status of its lease and takes the time
//! ```
//!
//! Attackers are tasks of one thread that is kept to one core: what they take of the machine is
//! bounded, and what the provider takes because of them is measured.

mod connection;
mod honest;
mod stage;
mod strangers;
mod tenants;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use anyhow::{Context, Result, anyhow};
use futures_util::future::{BoxFuture, FutureExt};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

pub use connection::{Client, Stream, answer, ask, request, tcp};
pub use honest::{Honest, Waits};
pub use stage::Stage;
pub use strangers::token;

/// What attackers aim at.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where REST is served.
    pub rest: SocketAddr,
    /// Where gRPC is served.
    pub grpc: SocketAddr,
    /// The token of a tenant who attacks.
    pub token: String,
    /// Deployments of that tenant which run here.
    pub leases: Vec<u64>,
    /// A group that would be bid on, as JSON.
    pub group: Vec<u8>,
}

/// One kind of attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attack {
    /// gRPC calls that announce 4 MiB and send a byte.
    Announced,
    /// Bodies that arrive a little at a time, over REST and gRPC.
    SlowBodies,
    /// TLS handshakes, whole and begun.
    Handshakes,
    /// Questions whether there would be a bid.
    Screening,
    /// Tokens of accounts that do not exist.
    Tokens,
    /// Certificates that were never published.
    Certificates,
    /// Shells that are sent much and whose output is not read.
    Shells,
    /// Logs that are hardly read.
    Logs,
    /// Connections that say nothing.
    Connections,
    /// JSON of the largest size that is taken.
    Json,
}

impl Attack {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Announced,
        Self::SlowBodies,
        Self::Handshakes,
        Self::Screening,
        Self::Tokens,
        Self::Certificates,
        Self::Shells,
        Self::Logs,
        Self::Connections,
        Self::Json,
    ];

    /// Its name in figures and in `docs/security.md`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Announced => "announced",
            Self::SlowBodies => "slow-bodies",
            Self::Handshakes => "handshakes",
            Self::Screening => "screening",
            Self::Tokens => "tokens",
            Self::Certificates => "certificates",
            Self::Shells => "shells",
            Self::Logs => "logs",
            Self::Connections => "connections",
            Self::Json => "json",
        }
    }

    /// Attacks until it is dropped.
    fn run(self, target: Arc<Target>, acts: Acts) -> BoxFuture<'static, ()> {
        match self {
            Self::Announced => strangers::announced(target, acts).boxed(),
            Self::SlowBodies => strangers::slow_bodies(target, acts).boxed(),
            Self::Handshakes => strangers::handshakes(target, acts).boxed(),
            Self::Screening => strangers::screening(target, acts).boxed(),
            Self::Tokens => strangers::tokens(target, acts).boxed(),
            Self::Certificates => strangers::certificates(target, acts).boxed(),
            Self::Connections => strangers::connections(target, acts).boxed(),
            Self::Shells => tenants::shells(target, acts).boxed(),
            Self::Logs => tenants::logs(target, acts).boxed(),
            Self::Json => tenants::json(target, acts).boxed(),
        }
    }
}

/// Counts what an attack did, so that one that does nothing shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Acts(Arc<AtomicU64>);

impl Acts {
    fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Attacks under way.
#[derive(Debug)]
pub struct Attackers {
    attacks: Vec<(Attack, Acts)>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Attackers {
    /// Begins attacks, on one thread that is kept to one core.
    pub fn start(target: &Target, attacks: &[Attack]) -> Self {
        let attacks: Vec<_> = attacks.iter().map(|attack| (*attack, Acts::default())).collect();
        let (target, running) = (Arc::new(target.clone()), attacks.clone());
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            keep_to_one_core()?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let attacks = running.into_iter();
            let attacks = attacks.map(|(attack, acts)| attack.run(target.clone(), acts));
            runtime.block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    () = all(attacks) => {}
                }
            });
            Ok(())
        });
        Self { attacks, stop: Some(stop), thread: Some(thread) }
    }

    /// How often each did what it does so far.
    pub fn acts(&self) -> Vec<(Attack, u64)> {
        let count = |(attack, acts): &(Attack, Acts)| (*attack, acts.0.load(Ordering::Relaxed));
        self.attacks.iter().map(count).collect()
    }

    /// Ends them; how often each did what it does.
    pub fn stop(mut self) -> Result<Vec<(Attack, u64)>> {
        drop(self.stop.take());
        let thread = self.thread.take().context("stopped twice")?;
        thread.join().map_err(|_| anyhow!("the attackers broke down"))??;
        Ok(self.acts())
    }
}

/// Each in a task of its own, until they end or this is dropped.
async fn all<F: Future<Output = ()> + Send + 'static>(tasks: impl IntoIterator<Item = F>) {
    let mut running: JoinSet<()> = tasks.into_iter().collect();
    while running.join_next().await.is_some() {}
}

/// The first core that this thread may use, and no other.
fn keep_to_one_core() -> Result<()> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let allowed = sched_getaffinity(None)?;
    let first = (0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).context("no core")?;
    let mut one = CpuSet::new();
    one.set(first);
    Ok(sched_setaffinity(None, &one)?)
}

/// Raises the limit of open files of this process as far as it goes: attackers need many.
pub fn raise_descriptors() -> Result<()> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    Ok(setrlimit(Resource::Nofile, limit)?)
}

/// One of several addresses of this machine: attackers have more than one.
const fn address(number: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(127, 0, 1, number))
}
