//! What the provider tells others on the bus, and what it hears there.

use akash_types::{ChainEvent, Coin, LeaseId};
use provider_bus::fact::{self, Resources};
use provider_bus::{Bus, Closed};
use provider_engine::cluster::recognition::Recognition;
use provider_engine::cluster::view::Amounts;
use provider_engine::effect::Fact;
use provider_engine::engine::{InventoryStatus, Published, Status};
use provider_engine::{Block, Input};

use crate::engine_task::Inbox;

/// Tells the bus what others may want to know. Never waits.
#[derive(Clone, Debug)]
pub struct Announcer {
    bus: Bus,
    chain_id: String,
}

impl Announcer {
    /// Tells `bus`.
    #[must_use]
    pub const fn new(bus: Bus, chain_id: String) -> Self {
        Self { bus, chain_id }
    }

    /// Tells how everything is.
    pub fn published(&self, published: &Published) {
        let status = &published.status;
        self.bus.publish(&cluster(published));
        self.bus.publish(&fact::BidEngineStatus {
            orders: status.orders.iter().map(|(_, count)| count_of(*count)).sum(),
            open_bids: count_of(published.bids.len()),
            paused: paused(status),
        });
        self.bus.publish(&fact::ManifestStatus {
            deployments: count_of(published.deployments),
            awaited: leases_in(status, "awaiting manifest"),
        });
        if let Some(inventory) = &published.inventory {
            self.bus.publish(&inventory_of(inventory));
        }
    }

    /// Tells that there is a block.
    pub fn block(&self, block: &Block) {
        let count = |is: fn(&ChainEvent) -> bool| {
            count_of(block.events.iter().filter(|event| is(event)).count())
        };
        self.bus.publish(&fact::Block {
            height: block.height,
            time_ms: block.time.unix().saturating_mul(1_000),
            chain_id: self.chain_id.clone(),
            orders_created: count(|event| matches!(event, ChainEvent::OrderCreated { .. })),
            leases_created: count(|event| matches!(event, ChainEvent::LeaseCreated { .. })),
            leases_closed: count(|event| matches!(event, ChainEvent::LeaseClosed { .. })),
        });
    }

    /// Tells what the engine says has happened, if it is about a lease.
    pub fn fact(&self, fact: &Fact, height: u64) {
        match fact {
            Fact::LeaseStarted(lease) => self.lease(*lease, fact::LeaseState::Active, height),
            Fact::LeaseOver(lease) => self.lease(*lease, fact::LeaseState::Closed, height),
            _ => {}
        }
    }

    /// Tells what is in the own wallet.
    pub fn wallet(&self, address: &str, coins: &[Coin], height: u64) {
        let coins = coins
            .iter()
            .map(|coin| fact::Coin { denom: coin.denom().to_string(), amount: coin.amount() });
        let address = address.to_owned();
        self.bus.publish(&fact::BalanceStatus { address, coins: coins.collect(), height });
    }

    fn lease(&self, lease: LeaseId, state: fact::LeaseState, height: u64) {
        self.bus.publish(&fact::LeaseChange {
            owner: lease.owner().to_string(),
            dseq: lease.dseq(),
            gseq: lease.gseq(),
            oseq: lease.oseq(),
            provider: lease.provider().to_string(),
            state,
            reason: None,
            height,
        });
    }
}

/// Wakes the engine whenever somebody else says that the cluster looks different. What was said is
/// not believed; it only says where to look.
pub(crate) async fn hear(bus: Bus, inbox: Inbox) -> Result<(), Closed> {
    let mut cluster = bus.subscribe::<fact::InventoryCluster>();
    let mut nodes = bus.subscribe::<fact::InventoryNodes>();
    let mut storage = bus.subscribe::<fact::InventoryStorage>();
    loop {
        tokio::select! {
            heard = cluster.next() => drop(heard?),
            heard = nodes.next() => drop(heard?),
            heard = storage.next() => drop(heard?),
        }
        inbox.tell(Input::Hint).await.map_err(|_| Closed)?;
    }
}

fn cluster(published: &Published) -> fact::ClusterStatus {
    let status = &published.status;
    fact::ClusterStatus {
        active: count_of(published.leases.iter().filter(|lease| lease.alive).count()),
        deploying: leases_in(status, "deploying"),
        running: leases_in(status, "running"),
        degraded: leases_in(status, "degraded"),
        closing: leases_in(status, "closing"),
        breaker_open: status.breaker_open,
    }
}

/// Why no bids are made, if none are.
fn paused(status: &Status) -> Option<String> {
    if !status.ready {
        return Some("starting: the chain or the cluster was not read yet".to_owned());
    }
    match status.cluster.recognition {
        Recognition::Known => {}
        Recognition::Undecided => {
            return Some("starting: the cluster is not recognized yet".to_owned());
        }
        Recognition::Unknown(why) => return Some(format!("the cluster is unknown: {why}")),
    }
    if status.maintenance {
        return Some("maintenance".to_owned());
    }
    if let Some(hold) = &status.isolation {
        return Some(hold.to_string());
    }
    if !status.cluster_fresh {
        return Some("the cluster does not answer".to_owned());
    }
    status.cannot_pay()
}

fn inventory_of(inventory: &InventoryStatus) -> fact::InventoryStatus {
    let sum = |of: fn(&provider_engine::engine::NodeStatus) -> Amounts| {
        inventory.nodes.iter().map(of).fold(Resources::default(), |sum, each| Resources {
            cpu_milli: sum.cpu_milli.saturating_add(positive(each.cpu_milli)),
            memory: sum.memory.saturating_add(positive(each.memory)),
            ephemeral_storage: sum.ephemeral_storage.saturating_add(positive(each.ephemeral)),
            gpu: sum.gpu.saturating_add(positive(each.gpu)),
        })
    };
    fact::InventoryStatus {
        allocatable: sum(|node| node.allocatable),
        available: sum(|node| node.available),
        reservations: count_of(inventory.reserved.len()),
    }
}

fn leases_in(status: &Status, stage: &str) -> u64 {
    let found = status.leases.iter().find(|(name, _)| *name == stage);
    found.map_or(0, |(_, count)| count_of(*count))
}

fn count_of(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// What is left, where more is used than there is, is nothing.
fn positive(amount: i64) -> u64 {
    u64::try_from(amount).unwrap_or(0)
}
