//! How things stand in the engine, for one scrape.

use std::collections::{BTreeMap, BTreeSet};

use provider_engine::cluster::view::Amounts;
use provider_engine::engine::{Engine, Life, Reservation, Status};
use provider_engine::inventory::Free;

/// How things stand in the engine. Made by whoever owns it, now and then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineGauges {
    /// Its own summary.
    pub status: Status,
    /// Deployments whose manifest the cluster holds.
    pub manifests: usize,
    /// Disagreements, by kind.
    pub drift: BTreeMap<&'static str, usize>,
    /// Reservations that run.
    pub active: Reserved,
    /// Those that do not yet.
    pub pending: Reserved,
    /// Nodes.
    pub nodes: usize,
    /// What all nodes have.
    pub allocatable: Amounts,
    /// What is left of it.
    pub available: Amounts,
    /// Bytes of persistent storage by class: in all, and what is left.
    pub storage: BTreeMap<Box<str>, (i64, i64)>,
    /// Ports that are left; `None` if unlimited.
    pub ports: Option<i64>,
}

/// What is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reserved {
    /// In how many reservations.
    pub count: usize,
    /// On nodes.
    pub amounts: Amounts,
    /// Ports.
    pub ports: u64,
}

impl EngineGauges {
    /// How things stand. Takes as long as computing what is free: once per scrape, not per input.
    #[must_use]
    pub fn of(engine: &Engine) -> Self {
        let view = engine.cluster_view();
        let held = view.leases.values().filter(|lease| lease.held.is_some());
        let manifests: BTreeSet<_> = held.map(|lease| lease.id.deployment_id()).collect();
        let mut drift = BTreeMap::new();
        for item in engine.drift() {
            *drift.entry(item.code()).or_default() += 1;
        }
        let (mut active, mut pending) = (Reserved::default(), Reserved::default());
        for reservation in engine.reservations() {
            let sum = if reservation.active { &mut active } else { &mut pending };
            sum.add(&reservation);
        }
        let seen = |life: &Life| life.lease().and_then(|lease| view.leases.get(&lease.id));
        let bookings = engine.lives().filter_map(|life| Some((life.booking.as_ref()?, seen(life))));
        let free = Free::compute(view, bookings);
        let left: BTreeMap<_, _> = free.storage().collect();
        let storage = view.storage.iter().map(|(name, class)| {
            let left = left.get(name).copied().unwrap_or_default();
            (Box::from(&**name), (class.allocatable, left))
        });
        Self {
            status: engine.status(),
            manifests: manifests.len(),
            drift,
            active,
            pending,
            nodes: view.nodes.len(),
            allocatable: sum(view.nodes.values().map(|node| node.allocatable)),
            available: sum(free.nodes().map(|node| node.free)),
            storage: storage.collect(),
            ports: free.ports(),
        }
    }
}

impl Reserved {
    fn add(&mut self, reservation: &Reservation<'_>) {
        self.count = self.count.saturating_add(1);
        self.ports = self.ports.saturating_add(reservation.booking.ports);
        for unit in &reservation.booking.units {
            let count = i64::from(unit.count);
            let each = unit.need.on_node();
            let all = Amounts {
                cpu_milli: each.cpu_milli.saturating_mul(count),
                memory: each.memory.saturating_mul(count),
                ephemeral: each.ephemeral.saturating_mul(count),
                gpu: each.gpu.saturating_mul(count),
            };
            self.amounts = plus(self.amounts, all);
        }
    }
}

fn sum(amounts: impl Iterator<Item = Amounts>) -> Amounts {
    amounts.fold(Amounts::default(), plus)
}

const fn plus(a: Amounts, b: Amounts) -> Amounts {
    Amounts {
        cpu_milli: a.cpu_milli.saturating_add(b.cpu_milli),
        memory: a.memory.saturating_add(b.memory),
        ephemeral: a.ephemeral.saturating_add(b.ephemeral),
        gpu: a.gpu.saturating_add(b.gpu),
    }
}
