//! Where everything comes to rest once nothing goes wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use akash_chain::query::LeaseFilter;
use akash_types::{BidState, Dec, DeploymentId, EscrowState, Lease, LeaseId, LeaseState, OrderId};
use provider_engine::engine::Record;
use provider_engine::lease::health;

use crate::simulation::world::World;
use crate::simulation::world::snapshot::now;

/// What ended or began this many blocks ago may still be under way.
const BOUND: u64 = 100;
/// How many blocks a lease may run unpaid.
const UNPAID: i128 = 60;
/// After this long every intent has ended.
const ENDED: Duration = Duration::from_secs(600);

/// The truth at rest.
pub(crate) struct Rest {
    leases: BTreeMap<LeaseId, Lease>,
    bids: BTreeMap<OrderId, u64>,
    /// Orders on which there is or was a bid of ours: there is one ever.
    tried: BTreeSet<OrderId>,
    orders: BTreeMap<OrderId, u64>,
}

impl Rest {
    fn of(world: &World) -> Option<Self> {
        let chain = world.chain.query();
        let own = world.own();
        let leases =
            now(chain.leases(LeaseFilter { provider: Some(own), ..LeaseFilter::default() }))?
                .ok()?
                .value
                .items;
        let bids = now(chain.bids_of(own, None))?.ok()?.value.items;
        let orders = now(chain.open_orders())?.ok()?.value.items;
        Some(Self {
            leases: leases.into_iter().map(|info| (info.lease.id, info.lease)).collect(),
            tried: bids.iter().map(|info| info.bid.id.order_id()).collect(),
            bids: bids
                .iter()
                .filter(|info| info.bid.state == BidState::Open)
                .map(|info| (info.bid.id.order_id(), info.bid.created_at))
                .collect(),
            orders: orders.iter().map(|order| (order.id, order.created_at)).collect(),
        })
    }
}

impl World {
    /// Compares everything with everything.
    pub(crate) fn check_rest(&mut self) {
        let Some(rest) = Rest::of(self) else {
            return self.watch.found(10, "the chain cannot be read".to_owned());
        };
        let mut found = Vec::new();
        self.at_rest(&rest, &mut found);
        self.paid(&rest, &mut found);
        found.extend(self.watch.open_for(ENDED, self.now).into_iter().map(|text| (6, text)));
        for (invariant, what) in found {
            self.watch.found(invariant, what);
        }
        self.after_step();
    }

    fn at_rest(&self, rest: &Rest, found: &mut Vec<(u8, String)>) {
        let Some(process) = &self.process else {
            return found.push((10, "there is no process".to_owned()));
        };
        let engine = &process.engine;
        let height = self.chain.height();
        let status = engine.status();
        if !engine.may_act() || !status.cluster_fresh || status.height + 3 < height {
            let text = format!("the engine does not follow: {status:?} at height {height}");
            return found.push((10, text));
        }
        let lives: BTreeMap<OrderId, &Record> =
            engine.records().map(|record| (record.id, record)).collect();
        let view = self.truth().view();
        let recent = |at: u64| at + BOUND > height;
        let alive =
            |lease: &Lease| matches!(lease.state, LeaseState::Active | LeaseState::Reclaiming);
        for lease in rest.leases.values() {
            let (id, record) = (lease.id, lives.get(&lease.id.order_id()).copied());
            let known = record.and_then(Record::lease);
            let seen = view.leases.get(&id);
            if !alive(lease) {
                if recent(lease.closed_on.unwrap_or(0)) {
                    continue;
                }
                if seen.is_some() {
                    found.push((2, format!("lease {id} is over and still in the cluster")));
                }
                if let Some(record) = record {
                    let stage = record.stage_name();
                    found.push((2, format!("lease {id} is over and {stage} in the engine")));
                }
                continue;
            }
            let Some(known) = known.filter(|known| known.is_alive()) else {
                if !recent(lease.created_at) {
                    found.push((10, format!("lease {id} is active and not known")));
                }
                continue;
            };
            let Some(held) = seen.and_then(|seen| seen.held.as_ref()) else {
                // Lost, and there is no second evidence: it waits for its tenant or the operator.
                let waits = known.waits_unwatched() || known.lacks_manifest() || status.rival;
                if !recent(lease.created_at) && known.closing.is_none() && !waits {
                    let stage = known.stage_name();
                    found.push((1, format!("lease {id} has no manifest, is not closed: {stage}")));
                }
                continue;
            };
            let replicas = seen.map_or(&[][..], |seen| seen.replicas.as_slice());
            let healthy = health(&held.group, replicas).is_healthy();
            let stage = known.stage_name();
            let fits = match stage {
                "running" => healthy,
                "degraded" => !healthy,
                "closing" => true,
                _ => false,
            };
            if !held.deployed || !fits {
                let text = format!(
                    "lease {id} is {stage}, {}deployed, {}",
                    if held.deployed { "" } else { "not " },
                    health(&held.group, replicas),
                );
                found.push((1, text));
            }
        }
        for id in view.leases.keys().filter(|id| !rest.leases.contains_key(id)) {
            found.push((2, format!("the cluster has {id}, which the chain does not know")));
        }
        for (order, created) in &rest.bids {
            let record = lives.get(order);
            if !record.is_some_and(|record| record.has_bid()) && !recent(*created) {
                found.push((10, format!("the bid on {order} is open and not known")));
            }
            if !recent(*created) {
                found.push((10, format!("the bid on {order} is open since height {created}")));
            }
        }
        for (order, created) in &rest.orders {
            if !lives.contains_key(order) && !rest.tried.contains(order) && !recent(*created) {
                found.push((10, format!("order {order} is open and not known")));
            }
        }
        let bid: BTreeSet<OrderId> = rest.bids.keys().copied().collect();
        for record in lives.values().filter(|record| record.lease().is_none()) {
            let id = record.id;
            let stage = record.stage_name();
            if !rest.orders.contains_key(&id) && !bid.contains(&id) {
                found.push((5, format!("order {id} is over and {stage} in the engine")));
            }
            if matches!(stage, "seen" | "judged" | "abandoned") {
                found.push((10, format!("order {id} is {stage} and stays so")));
            }
        }
    }

    /// No lease runs unpaid.
    fn paid(&self, rest: &Rest, found: &mut Vec<(u8, String)>) {
        let chain = self.chain.query();
        // Of a lease that is lost nothing is withdrawn, and so its account is not settled.
        let engine = self.process.iter().map(|process| &*process.engine);
        let known = engine.flat_map(provider_engine::Engine::records).filter_map(Record::lease);
        let lost: BTreeSet<DeploymentId> = known
            .filter(|lease| lease.waits_unwatched())
            .map(|lease| lease.id.deployment_id())
            .collect();
        let active = rest.leases.values().filter(|lease| lease.state == LeaseState::Active);
        let active = active.filter(|lease| !lost.contains(&lease.id.deployment_id()));
        let deployments: BTreeSet<DeploymentId> =
            active.map(|lease| lease.id.deployment_id()).collect();
        for id in deployments {
            let info = now(chain.deployment(id)).and_then(Result::ok).and_then(|found| found.value);
            let Some(account) = info.and_then(|info| info.account) else { continue };
            let of = rest.leases.values().filter(|lease| {
                lease.id.deployment_id() == id && lease.state == LeaseState::Active
            });
            let rate = of.fold(0, |sum: i128, lease| sum + lease.price.amount().truncate_int());
            let held = account.funds.first().map_or(Dec::ZERO, |funds| funds.amount).truncate_int();
            let blocks = i128::from(self.chain.height().saturating_sub(account.settled_at));
            if account.state != EscrowState::Open || held + rate * UNPAID < rate * blocks {
                let state = account.state;
                found.push((
                    12,
                    format!("{id} runs unpaid: {held} for {blocks} blocks of {rate}, {state}"),
                ));
            }
        }
    }
}
