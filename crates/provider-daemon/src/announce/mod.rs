//! What the provider tells others on the bus, and what it hears there.

mod events;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use akash_chain::tx::lane::LaneStatus;
use akash_types::{
    Address, ChainEvent, Class, Coin, LeaseClosedReason, LeaseId, LeaseState, ReasonKind,
};
use provider_bus::fact::{self, Resources};
use provider_bus::{Bus, BusStatus, Closed, Connection};
use provider_engine::Block;
use provider_engine::cluster::view::Amounts;
use provider_engine::effect::Fact;
use provider_engine::engine::{InventoryStatus, Published, Status};
use provider_engine::journal::Entry;
use tokio::sync::{Notify, watch};

use crate::part::{Lifecycle, Part};

/// Shortest time between two readings of the cluster for what others say.
const REREAD_PAUSE: Duration = Duration::from_secs(5);
/// Shortest time between two lines in the log about events that were dropped.
const WARN_PAUSE: Duration = Duration::from_secs(30);

/// Tells the bus what others may want to know. Never waits.
#[derive(Clone, Debug)]
pub struct Announcer {
    bus: Bus,
    provider: Address,
    chain_id: String,
    lane: Arc<OnceLock<watch::Receiver<LaneStatus>>>,
    newest: Option<Arc<Published>>,
}

impl Announcer {
    /// Tells `bus`.
    pub fn new(bus: Bus, provider: Address, chain_id: String) -> Self {
        Self { bus, provider, chain_id, lane: Arc::default(), newest: None }
    }

    /// Where to learn, once there is one, what keeps bids from being sent.
    pub(crate) fn lane(&self) -> Arc<OnceLock<watch::Receiver<LaneStatus>>> {
        Arc::clone(&self.lane)
    }

    /// Tells how everything is.
    pub fn published(&mut self, published: &Arc<Published>) {
        let status = &published.status;
        self.bus.publish(&cluster(published));
        let held = self.lane.get().map(|lane| held_bids(&lane.borrow())).unwrap_or_default();
        let orders = status.orders.iter().filter(|(stage, _)| *stage != "declined");
        let pauses: Vec<String> = status.bid_pauses.iter().cloned().chain(held).collect();
        self.bus.publish(&fact::BidEngineStatus {
            orders: orders.map(|(_, count)| count_of(*count)).sum(),
            open_bids: count_of(published.bids.iter().filter(|bid| bid.is_open()).count()),
            paused: (!pauses.is_empty()).then(|| pauses.join("; ")),
        });
        self.bus.publish(&fact::ManifestStatus {
            deployments: count_of(published.manifests),
            awaited: leases_in(status, "awaiting manifest"),
        });
        if let Some(inventory) = &published.inventory {
            self.bus.publish(&inventory_of(inventory));
        }
        self.newest = Some(Arc::clone(published));
    }

    pub fn block(&self, block: &Block) {
        for event in &block.events {
            if let Some(told) = self.of_deployment(event, block.height) {
                self.bus.record(told);
            }
        }
        let own = self.provider;
        let count = |is: &dyn Fn(&ChainEvent) -> bool| {
            count_of(block.events.iter().filter(|event| is(event)).count())
        };
        self.bus.publish(&fact::Block {
            height: block.height,
            time_ms: block.time.unix().saturating_mul(1_000),
            chain_id: self.chain_id.clone(),
            orders_created: count(&|event| matches!(event, ChainEvent::OrderCreated { .. })),
            leases_created: count(
                &|event| matches!(event, ChainEvent::LeaseCreated { id, .. } if id.provider() == own),
            ),
            leases_closed: count(
                &|event| matches!(event, ChainEvent::LeaseClosed { id, .. } if id.provider() == own),
            ),
        });
    }

    /// Tells what the engine decided, if it is about an order, a lease or a deployment.
    pub fn decided(&self, entry: &Entry) {
        if let Some(event) = events::of_entry(entry, self.provider) {
            self.bus.record(event);
        }
    }

    /// Tells what the engine says has happened.
    pub fn fact(&self, fact: &Fact, height: u64) {
        if let Some(event) = events::of_fact(fact, height) {
            self.bus.record(event);
        }
        match fact {
            Fact::LeaseStarted(lease) => {
                self.bus.publish(&change(*lease, fact::LeaseState::Active, height));
            }
            Fact::LeaseFunds { lease, dry, dry_at } => {
                self.bus.publish(&fact::LeaseChange {
                    dry_at: dry_at.filter(|_| *dry),
                    ..change(*lease, fact::LeaseState::Active, height)
                });
            }
            Fact::LeaseOver { lease, state, reason } => {
                self.bus.publish(&fact::LeaseChange {
                    reason: reason.map(in_words),
                    ..change(*lease, end_state(*state), height)
                });
            }
            Fact::Balance { coins, height } => self.balance(coins, *height),
            _ => {}
        }
    }

    fn balance(&self, coins: &[Coin], height: u64) {
        let coins = coins
            .iter()
            .map(|coin| fact::Coin { denom: coin.denom().to_string(), amount: coin.amount() });
        let address = self.provider.to_string();
        self.bus.publish(&fact::BalanceStatus { address, coins: coins.collect(), height });
    }

    /// What a block says of a deployment with a lease of this provider.
    fn of_deployment(&self, event: &ChainEvent, height: u64) -> Option<provider_bus::Event> {
        let told = events::of_chain(event, self.provider, height)?;
        let (ChainEvent::DeploymentUpdated { id, .. } | ChainEvent::DeploymentClosed { id }) =
            event
        else {
            return None;
        };
        let leases = &self.newest.as_ref()?.leases;
        leases.of_deployment(*id).next().map(|_| told)
    }
}

fn change(lease: LeaseId, state: fact::LeaseState, height: u64) -> fact::LeaseChange {
    fact::LeaseChange {
        owner: lease.owner().to_string(),
        dseq: lease.dseq(),
        gseq: lease.gseq(),
        oseq: lease.oseq(),
        provider: lease.provider().to_string(),
        state,
        reason: None,
        dry_at: None,
        height,
    }
}

const fn end_state(state: LeaseState) -> fact::LeaseState {
    match state {
        LeaseState::InsufficientFunds => fact::LeaseState::InsufficientFunds,
        LeaseState::Closed => fact::LeaseState::Closed,
        LeaseState::Active | LeaseState::Reclaiming => fact::LeaseState::Active,
    }
}

fn in_words(reason: LeaseClosedReason) -> String {
    let name = reason.to_string();
    let name = name.strip_prefix("lease_closed_reason_").unwrap_or(&name).replace('_', " ");
    match reason.kind() {
        ReasonKind::Owner => "closed by its owner".to_owned(),
        ReasonKind::Provider => format!("closed by the provider: {name}"),
        ReasonKind::Network => format!("closed by the chain: {name}"),
    }
}

/// What keeps the transaction queue from sending bids.
fn held_bids(lane: &LaneStatus) -> Vec<String> {
    let bids = lane.held.iter().filter(|(class, _)| class.is_none_or(|class| class == Class::Bid));
    bids.map(|(_, reason)| reason.to_string()).collect()
}

/// Shows and logs whether Redis is reached, and why not.
pub(crate) async fn show_connection(mut status: watch::Receiver<BusStatus>, part: Part) {
    let mut is_away = false;
    loop {
        let connection = status.borrow_and_update().connection.clone();
        match connection {
            Connection::Connected { server, .. } => {
                part.is(Lifecycle::Running);
                if std::mem::take(&mut is_away) {
                    tracing::info!(server, "bus: connected to Redis again");
                }
            }
            Connection::Reconnecting { reason, .. } if !reason.is_empty() => {
                if !std::mem::replace(&mut is_away, true) {
                    tracing::warn!(why = reason, "bus: not connected to Redis");
                }
                part.has_problem(format!("not connected to Redis: {reason}"));
            }
            Connection::Reconnecting { .. } | Connection::InProcess => {}
        }
        if status.changed().await.is_err() {
            return;
        }
    }
}

/// Logs events that were lost to Redis, and why Redis does not take any.
pub(crate) async fn log_losses(mut status: watch::Receiver<BusStatus>) {
    let (mut dropped, mut refused) = (0, None);
    while status.changed().await.is_ok() {
        let now = status.borrow_and_update().clone();
        if now.events_dropped > dropped {
            tracing::warn!(
                total = now.events_dropped,
                "bus: events dropped, Redis is away or slow"
            );
        }
        if let Some(why) = now.events_refused.as_ref().filter(|why| Some(*why) != refused.as_ref())
        {
            tracing::warn!(why, "bus: Redis refuses events; docs/bus.md has the rights they need");
        }
        if now.events_dropped > dropped || now.events_refused != refused {
            (dropped, refused) = (now.events_dropped, now.events_refused);
            tokio::time::sleep(WARN_PAUSE).await;
        }
    }
}

/// Has the cluster read again when another program says that it looks different. What was said is
/// not believed; it only says where to look.
pub(crate) async fn hear(bus: Bus, reread: Arc<Notify>) -> Result<(), Closed> {
    let mut cluster = bus.subscribe::<fact::InventoryCluster>();
    let mut nodes = bus.subscribe::<fact::InventoryNodes>();
    let mut storage = bus.subscribe::<fact::InventoryStorage>();
    loop {
        tokio::select! {
            heard = cluster.next() => drop(heard?),
            heard = nodes.next() => drop(heard?),
            heard = storage.next() => drop(heard?),
        }
        reread.notify_one();
        tokio::time::sleep(REREAD_PAUSE).await;
    }
}

fn cluster(published: &Published) -> fact::ClusterStatus {
    let active = |stages: &[&str]| {
        let leases = published.leases.iter().filter(|lease| lease.alive);
        count_of(leases.filter(|lease| stages.contains(&lease.stage)).count())
    };
    let alive = published.leases.iter().filter(|lease| lease.alive).count();
    fact::ClusterStatus {
        active: count_of(alive),
        deploying: active(&["awaiting manifest", "deploying"]),
        running: active(&["running"]),
        degraded: active(&["degraded", "manifest missing"]),
        closing: count_of(published.leases.len().saturating_sub(alive)),
        breaker_open: published.status.breaker_open,
    }
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
