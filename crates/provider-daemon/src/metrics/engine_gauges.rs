//! How things stand in the engine, for one scrape.

use std::collections::BTreeMap;

use provider_engine::cluster::view::Amounts;
use provider_engine::engine::{InventoryStatus, Published, Status};

/// How things stand in the engine. Made by whoever owns it, now and then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineGauges {
    pub status: Status,
    /// Deployments whose manifest the cluster holds.
    pub manifests: usize,
    pub drift: BTreeMap<&'static str, usize>,
    pub active: Reserved,
    /// Those that do not yet.
    pub pending: Reserved,
    pub nodes: usize,
    pub allocatable: Amounts,
    pub available: Amounts,
    /// Bytes of persistent storage by class: in all, and what is left.
    pub storage: BTreeMap<Box<str>, (i64, i64)>,
    /// Ports that are left; `None` if unlimited.
    pub ports: Option<i64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reserved {
    /// In how many reservations.
    pub count: usize,
    pub amounts: Amounts,
    pub ports: u64,
}

impl EngineGauges {
    /// How things stand, by what the engine last published.
    pub fn of(published: &Published) -> Self {
        let none = InventoryStatus::default();
        let inventory = published.inventory.as_ref().unwrap_or(&none);
        let (mut active, mut pending) = (Reserved::default(), Reserved::default());
        for kept in &inventory.reserved {
            let sum = if kept.active { &mut active } else { &mut pending };
            sum.count = sum.count.saturating_add(1);
            sum.ports = sum.ports.saturating_add(kept.ports);
            sum.amounts = plus(sum.amounts, kept.amounts);
        }
        let storage = inventory
            .storage
            .iter()
            .map(|class| (Box::from(&*class.class), (class.allocatable, class.available)));
        Self {
            status: published.status.clone(),
            manifests: published.manifests,
            drift: published.drift.clone(),
            active,
            pending,
            nodes: inventory.nodes.len(),
            allocatable: sum(inventory.nodes.iter().map(|node| node.allocatable)),
            available: sum(inventory.nodes.iter().map(|node| node.available)),
            storage: storage.collect(),
            ports: inventory.ports,
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
