//! How things are, at the moment of a scrape.

use std::collections::BTreeMap;
use std::time::UNIX_EPOCH;

use akash_chain::follow::{FollowStatus, Health};
use akash_chain::tx::lane::{LaneStatus, SequenceStatus};
use provider_api::status::Readiness;
use provider_bus::BusStatus;
use provider_engine::cluster::recognition::Recognition;
use provider_engine::cluster::view::Amounts;
use provider_engine::engine::{InventoryStatus, Published, Status};
use provider_operators::hostname::figures::Figures;

use super::metric::{Number, Page};
use super::process::ProcessStats;
use super::table as t;
use crate::gateway_figures::{GatewayFigures, LimitHits};
use crate::part::PartStatus;
use crate::store::StoreHealth;

/// How things are. What is absent does not appear.
#[derive(Clone, Copy, Debug, Default)]
pub struct Snapshot<'a> {
    pub engine: Option<&'a EngineGauges>,
    /// Whether the provider can do its work.
    pub readiness: Option<&'a Readiness>,
    pub follow: Option<&'a FollowStatus>,
    pub lane: Option<&'a LaneStatus>,
    pub store: Option<&'a StoreHealth>,
    pub bus: Option<&'a BusStatus>,
    pub parts: &'a [PartStatus],
    pub gateway: Option<&'a GatewayFigures>,
    pub hostnames: Option<&'a Figures>,
    pub process: Option<&'a ProcessStats>,
}

impl Snapshot<'_> {
    pub(super) fn fill(&self, page: &mut Page) {
        page.set(&t::BUILD_INFO, [env!("CARGO_PKG_VERSION")], 1_u64);
        if let Some(engine) = self.engine {
            fill_engine(page, engine);
            fill_inventory(page, engine);
        }
        if let Some(readiness) = self.readiness {
            page.set(&t::READY, [], readiness.ready);
        }
        if let Some(follow) = self.follow {
            fill_follow(page, follow);
        }
        if let Some(lane) = self.lane {
            fill_lane(page, lane);
        }
        if let Some(store) = self.store {
            fill_store(page, store);
        }
        if let Some(bus) = self.bus {
            page.set(&t::BUS_CONNECTED, [], bus.is_well());
            page.set(&t::BUS_LOST, [], bus.lost_connections);
            page.set(&t::BUS_SUPERSEDED, [], bus.superseded);
            page.set(&t::BUS_EVENTS_DROPPED, [], bus.events_dropped);
            page.set(&t::BUS_UNDECODABLE, [], bus.undecodable);
        }
        for part in self.parts {
            page.set(&t::PART_STATE, [part.name, part.lifecycle.as_str()], 1_u64);
            page.set(&t::PART_RESTARTS, [part.name], u64::from(part.restarts));
        }
        if let Some(gateway) = self.gateway {
            fill_gateway(page, gateway);
        }
        if let Some(hostnames) = self.hostnames {
            fill_hostnames(page, hostnames);
        }
        for (metric, value) in self.process.iter().flat_map(|process| process.values()) {
            if let Some(value) = value {
                page.set(metric, [], value);
            }
        }
    }
}

fn fill_engine(page: &mut Page, engine: &EngineGauges) {
    let status = &engine.status;
    let sum = |counts: &[(&str, usize)]| counts.iter().map(|(_, count)| count).sum::<usize>();
    page.set(&t::ORDER_MANAGER, [], sum(&status.orders));
    page.set(&t::DEPLOYMENT_MANAGER, [], sum(&status.leases));
    page.set(&t::MANIFEST_MANAGER, [], engine.manifests);
    let mut waiting = 0;
    for (stage, count) in &status.leases {
        page.set(&t::LEASES, [&stage.replace(' ', "-")], *count);
        if *stage == "awaiting manifest" {
            waiting = *count;
        }
    }
    page.set(&t::ORDER_WATCHDOG, [], waiting);
    for (stage, count) in &status.orders {
        page.set(&t::ORDERS, [stage], *count);
    }
    page.set(&t::CLUSTER_FRESH, [], status.cluster_fresh);
    let is_known = status.cluster.recognition == Recognition::Known;
    page.set(&t::CLUSTER_KNOWN, [], is_known);
    page.set(&t::RIVAL, [], status.rival);
    page.set(&t::BREAKER_OPEN, [], status.breaker_open);
    page.set(&t::MAINTENANCE, [], status.maintenance);
    for reason in ["findings", "unknown"] {
        let is_held = status.isolation.as_ref().is_some_and(|hold| hold.code() == reason);
        page.set(&t::ISOLATION_HOLD, [reason], is_held);
    }
    page.set(&t::CANNOT_PAY, [], status.cannot_pay().is_some());
    page.set(&t::LOW_BALANCE, [], status.low_balance().is_some());
    for (kind, count) in &engine.drift {
        page.set(&t::DRIFT_ITEMS, [kind], *count);
    }
}

fn fill_inventory(page: &mut Page, engine: &EngineGauges) {
    let kept = &t::INVENTORY_RESERVATIONS;
    let (active, pending) = (&engine.active, &engine.pending);
    page.set(kept, ["none", "quantity"], active.count.saturating_add(pending.count));
    page.set(kept, ["none", "allocated"], active.count);
    for (class, Reserved { amounts, ports, .. }) in [("active", active), ("pending", pending)] {
        page.set(kept, [class, "cpu"], amounts.cpu_milli);
        page.set(kept, [class, "gpu"], amounts.gpu);
        page.set(kept, [class, "memory"], amounts.memory);
        page.set(kept, [class, "storage-ephemeral"], 0_u64);
        page.set(kept, [class, "endpoints"], *ports);
    }
    let (all, left) = (&t::INVENTORY_ALLOCATABLE, &t::INVENTORY_AVAILABLE);
    page.set(all, ["nodes"], engine.nodes);
    page.set(all, ["gpu"], Number::thousandths(engine.allocatable.gpu));
    page.set(all, ["endpoints"], 0_u64);
    page.set(left, ["endpoints"], engine.ports.unwrap_or(0).max(0));
    for (metric, amounts) in [(all, engine.allocatable), (left, engine.available)] {
        page.set(metric, ["cpu"], Number::thousandths(amounts.cpu_milli));
        page.set(metric, ["memory"], amounts.memory);
        page.set(metric, ["storage-ephemeral"], amounts.ephemeral);
    }
    for (class, (has, is_left)) in &engine.storage {
        let quantity = format!("storage-{class}");
        page.set(all, [&quantity], *has);
        page.set(left, [&quantity], *is_left);
    }
}

fn fill_follow(page: &mut Page, follow: &FollowStatus) {
    if let Some(cursor) = follow.cursor {
        page.set(&t::CHAIN_HEIGHT, [], cursor);
    }
    if let Some(head) = follow.head {
        page.set(&t::CHAIN_HEAD_HEIGHT, [], head);
    }
    page.set(&t::CHAIN_LAG_BLOCKS, [], follow.lag);
    if let Some(age) = follow.last_block_time.and_then(|at| at.duration_since(UNIX_EPOCH).ok()) {
        page.set(&t::CHAIN_BLOCK_TIMESTAMP, [], Number::seconds(age));
    }
    page.set(&t::CHAIN_STALLED, [], follow.stalled);
    page.set(&t::CHAIN_SUBSCRIBED, [], follow.subscribed);
    for (index, node) in follow.nodes.iter().enumerate() {
        let labels = [&*index.to_string(), host(&node.name)];
        page.set(&t::CHAIN_NODE_USABLE, labels, node.health == Health::Usable);
        page.set(&t::CHAIN_NODE_HEIGHT, labels, node.height);
    }
}

/// Host and port of an address, which may carry a login or a key in its path.
fn host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn fill_lane(page: &mut Page, lane: &LaneStatus) {
    for (class, count) in &lane.queued {
        page.set(&t::TX_QUEUE, [class.as_str()], *count);
    }
    page.set(&t::TX_IN_FLIGHT, [], lane.txs_in_flight);
    page.set(&t::TX_MESSAGES_IN_FLIGHT, [], lane.messages_in_flight);
    page.set(&t::TX_DOUBTFUL, [], lane.doubtful);
    page.set(&t::TX_HELD, [], lane.held.len());
    let ready = matches!(lane.sequence, SequenceStatus::Ready { .. });
    page.set(&t::TX_SEQUENCE_READY, [], ready);
    for coin in &lane.fees_total {
        page.set(&t::FEES_SPENT, [coin.denom().as_str()], coin.amount());
    }
    for coin in &lane.fees_today {
        page.set(&t::FEES_TODAY, [coin.denom().as_str()], coin.amount());
    }
}

fn fill_store(page: &mut Page, store: &StoreHealth) {
    if let Some(size) = store.size {
        page.set(&t::STORE_SIZE, [], size);
    }
    page.set(&t::STORE_COMMITS, [], store.commits);
    page.set(&t::STORE_FAILURES, [], store.failures);
    if let Some(took) = store.last_commit {
        page.set(&t::STORE_COMMIT_SECONDS, [], Number::seconds(took));
    }
    page.set(&t::STORE_HEALTHY, [], store.problem.is_none());
}

fn fill_gateway(page: &mut Page, gateway: &GatewayFigures) {
    for (listener, tally) in &gateway.listeners {
        page.set(&t::GATEWAY_OPEN_CONNECTIONS, [listener], tally.open);
        for (result, count) in [
            ("served", tally.served),
            ("handshake-failed", tally.failed.saturating_sub(tally.slow)),
            ("handshake-timeout", tally.slow),
            ("certificate-refused", tally.refused),
        ] {
            page.set(&t::GATEWAY_CONNECTIONS, [listener, result], count);
        }
        page.set(&t::GATEWAY_IDLE_CLOSED, [listener], tally.crowded_out);
    }
    for LimitHits { listener, limit, count } in gateway.limit_hits() {
        page.set(&t::GATEWAY_LIMIT_HITS, [listener, limit], count);
    }
}

fn fill_hostnames(page: &mut Page, figures: &Figures) {
    for (state, count) in &figures.hosts {
        page.set(&t::HOSTNAMES, [state.as_str()], *count);
    }
    page.set(&t::HOSTNAME_QUEUE, [], figures.queue);
    page.set(&t::HOSTNAME_LEADER, [], figures.leads);
    let counts = &figures.counts;
    for ((action, is_well), count) in &counts.writes {
        let result = if *is_well { "success" } else { "fail" };
        page.set(&t::HOSTNAME_WRITES, [action, result], *count);
    }
    for (reason, count) in &counts.failures {
        page.set(&t::HOSTNAME_FAILURES, [&snake_case(reason)], *count);
    }
    page.set_histogram(&t::HOSTNAME_RECONCILE, counts.durations.clone(), counts.milliseconds);
}

/// `NotFound` as `not_found`.
fn snake_case(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 2);
    for c in name.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

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

#[cfg(test)]
mod tests {
    use super::{host, snake_case};

    #[test]
    fn reasons_are_written_as_labels_are() {
        assert_eq!(snake_case("NotFound"), "not_found");
        assert_eq!(snake_case("Refused"), "refused");
    }

    #[test]
    fn no_secret_of_an_address_is_shown() {
        for (address, shown) in [
            ("https://rpc.example.com:443", "rpc.example.com:443"),
            ("https://user:secret@rpc.example.com/secret?key=secret", "rpc.example.com"),
            ("http://[::1]:26657/", "[::1]:26657"),
            ("rpc.example.com:26657#secret", "rpc.example.com:26657"),
            ("", ""),
        ] {
            assert_eq!(host(address), shown);
        }
    }
}
