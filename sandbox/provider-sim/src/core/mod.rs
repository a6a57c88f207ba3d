//! The simulated cluster: a machine without IO, clock or tokio.
//!
//! ```text
//! SimCluster::step(now, SimInput) -> Vec<SimOutput>       now never goes back
//! SimCluster::next_due() -> Option<Duration>              when it wants a Tick
//! ```
//!
//! `step` first lets happen what is due until `now`, each thing at its moment, so that it does not
//! matter how often it is called; then it takes the input. What it costs depends on what changes,
//! not on how much there is; only a whole view and the loss of a node look at everything.
//! Whatever depends on chance comes from the seed, so the same calls give the same answers.
//!
//! [`image`] says which image names behave in which way. Logs and events are computed when they are
//! asked for; nothing is written down while nobody reads.
//!
//! Must not know: time of day, files, sockets, tasks, who asks.

mod disturb;
mod events;
mod expose;
pub mod image;
mod lease;
mod live;
mod logs;
mod machine;
mod operate;
mod place;
mod pod;
mod read;
mod restore;
mod roll;
mod settings;
mod shell;
mod spec;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use akash_types::{Address, LeaseId};
use provider_engine::cluster::command::{Command, CommandAnswer, Workload};
use provider_engine::cluster::view::{Name, StorageClass, ViewChange};

use disturb::Api;
use lease::Lease;
use machine::{Machine, Timers};
use pod::PodKey;

pub use disturb::{Disturbance, Faults, Loss};
pub use logs::LogCursor;
pub use read::{EventCursor, Page};
pub use restore::LeaseRecord;
pub use settings::{CommitLevels, Delays, Random, Settings};
pub use shell::{Shell, ShellOutput};
pub use spec::{ClusterSpec, SpecError};

/// What happens to the cluster from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimInput {
    Tick,
    Command(Command),
    Observe,
    /// Something goes wrong, or right again.
    Disturb(Disturbance),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimOutput {
    Answer(CommandAnswer),
    View(ViewChange),
}

#[derive(Clone, Debug)]
pub struct SimCluster {
    settings: Settings,
    random: Random,
    now: Duration,
    machines: BTreeMap<Name, Machine>,
    classes: BTreeMap<Name, Class>,
    /// Free addresses; `None` if nobody hands any out.
    addresses: Option<Vec<IpAddr>>,
    address_total: u64,
    /// Which lease an owner's endpoint belongs to.
    endpoints: BTreeMap<(Address, String), LeaseId>,
    hostnames: BTreeMap<String, LeaseId>,
    /// Ports of nodes that can lead to services, and those that do.
    port_range: std::ops::RangeInclusive<u16>,
    node_ports: BTreeSet<u16>,
    leases: BTreeMap<LeaseId, Lease>,
    /// Pods without a place.
    waiting: BTreeSet<(LeaseId, PodKey)>,
    maintenance: bool,
    /// Manifests in a namespace that is not looked into, and whether they were deployed.
    hidden: BTreeMap<LeaseId, (Arc<Workload>, bool)>,
    timers: Timers,
    api: Api,
    touched: Touched,
}

/// Persistent storage and what volumes of leases take of it.
#[derive(Clone, Debug)]
struct Class {
    view: StorageClass,
    used: i64,
}

#[derive(Clone, Debug, Default)]
struct Touched {
    leases: BTreeSet<LeaseId>,
    nodes: BTreeSet<Name>,
    maintenance: bool,
}

impl SimCluster {
    /// A cluster of these machines, on which nothing runs.
    pub fn new(spec: ClusterSpec, settings: Settings, seed: u64) -> Self {
        let ClusterSpec { nodes, storage, ips, node_ports } = spec;
        let machines = nodes.into_iter().map(|(name, node)| (name, Machine::new(node))).collect();
        let class = |(name, view)| (name, Class { view, used: 0 });
        let addresses = ips.map(expose::addresses);
        Self {
            settings,
            random: Random::new(seed),
            now: Duration::ZERO,
            machines,
            classes: storage.into_iter().map(class).collect(),
            address_total: u64::try_from(addresses.iter().flatten().count()).unwrap_or(u64::MAX),
            addresses,
            endpoints: BTreeMap::new(),
            hostnames: BTreeMap::new(),
            port_range: node_ports,
            node_ports: BTreeSet::new(),
            leases: BTreeMap::new(),
            waiting: BTreeSet::new(),
            maintenance: false,
            hidden: BTreeMap::new(),
            timers: Timers::default(),
            api: Api::default(),
            touched: Touched::default(),
        }
    }

    /// Lets time pass until `now` and takes an input. An earlier `now` is taken for the latest.
    pub fn step(&mut self, now: Duration, input: SimInput) -> Vec<SimOutput> {
        self.touched = Touched::default();
        let mut outputs = Vec::new();
        self.advance(now, &mut outputs);
        let observes = matches!(input, SimInput::Observe);
        match input {
            SimInput::Tick | SimInput::Observe => {}
            SimInput::Command(command) => self.command(command, &mut outputs),
            SimInput::Disturb(disturbance) => self.disturb(disturbance, &mut outputs),
        }
        self.tell(&mut outputs);
        if observes {
            outputs.push(SimOutput::View(self.observed()));
        }
        outputs
    }

    /// When something happens by itself next.
    pub fn next_due(&self) -> Option<Duration> {
        self.timers.next_due()
    }

    /// The moment that it has reached.
    pub const fn now(&self) -> Duration {
        self.now
    }

    /// Leases that the last step changed, those that are gone included. Whoever keeps the state
    /// writes down [`SimCluster::record`] of each.
    pub fn changed_leases(&self) -> impl Iterator<Item = LeaseId> + '_ {
        self.touched.leases.iter().copied()
    }

    /// Whether the last step switched maintenance.
    pub const fn maintenance_changed(&self) -> bool {
        self.touched.maintenance
    }

    pub const fn maintenance(&self) -> bool {
        self.maintenance
    }

    /// Works on a lease and the cluster at once; does nothing if there is no such lease.
    fn with_lease(&mut self, id: LeaseId, work: impl FnOnce(&mut Self, &mut Lease)) {
        if let Some(mut lease) = self.leases.remove(&id) {
            work(self, &mut lease);
            self.leases.insert(id, lease);
        }
    }

    /// A span, or up to half as long again.
    fn about(&mut self, span: Duration) -> Duration {
        let half = u64::try_from(span.as_millis() / 2).unwrap_or(u64::MAX);
        span.saturating_add(Duration::from_millis(self.random.below(half.saturating_add(1))))
    }
}

#[cfg(test)]
mod tests;
