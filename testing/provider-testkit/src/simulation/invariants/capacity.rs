//! Every reservation has an owner, no node is sold twice, and no room is counted twice.

use std::collections::BTreeMap;

use akash_types::{OrderId, Storage};
use provider_engine::Engine;
use provider_engine::cluster::view::{Amounts, LeaseView, Name, Node, Replica};
use provider_engine::engine::Stage;
use provider_engine::inventory::{Booking, NoRoom};
use provider_engine::journal::{Decision, Entry, Subject};
use provider_engine::order;
use provider_engine::order::decline::Decline;

use super::Watch;

impl Watch {
    /// Every reservation has an owner, and every bid a reservation.
    pub(super) fn bookings(&mut self, engine: &Engine) {
        for record in engine.records() {
            let (id, booked) = (record.id, record.booking.is_some());
            match &record.stage {
                Stage::Order(stage) => {
                    let may = stage.has_bid() || matches!(stage, order::Stage::Pricing(_));
                    let must =
                        matches!(stage, order::Stage::Bidding(..) | order::Stage::Pricing(_));
                    let open = matches!(stage, order::Stage::Open(_));
                    if booked && !may {
                        let stage = stage.name();
                        self.found(5, format!("order {id} is {stage} and has a reservation"));
                    } else if !booked && (must || (open && engine.may_act() && self.fresh)) {
                        let stage = stage.name();
                        self.found(5, format!("order {id} is {stage} and nothing is kept for it"));
                    }
                }
                Stage::Lease(lease) => {
                    let known = lease.order.is_some() && lease.is_alive();
                    if known && !booked && engine.may_act() && self.fresh {
                        self.found(5, format!("nothing is kept for lease {id}"));
                    }
                }
            }
        }
    }

    /// A bid goes out: everything that is kept on its nodes must fit.
    pub(super) fn bid_fits(&mut self, engine: &Engine, order: OrderId) {
        let free = free(engine, &self.nodes);
        let Some(record) = engine.records().find(|record| record.id == order) else { return };
        let units = record.booking.iter().flat_map(|booking| booking.units.iter());
        let planned = units.flat_map(|unit| unit.plan.iter().map(move |(node, _)| (node, unit)));
        for (node, unit) in planned {
            let Some(left) = free.get(node) else { continue };
            // Cards that others have too many of are nothing to one that asks for none.
            let cards = left.gpu < 0 && unit.need.asks.gpu > 0;
            if left.cpu_milli < 0 || left.memory < 0 || left.ephemeral < 0 || cards {
                let text = format!("with the bid on {order}, node {node} has {left:?} left");
                self.found(4, text);
            }
        }
    }

    /// An order is declined for lack of room: there must be none.
    pub(super) fn declined(&mut self, entry: &Entry, engine: &Engine) {
        let (Decision::Declined(reasons), Subject::Order(order)) = (&entry.decision, entry.subject)
        else {
            return;
        };
        if !reasons.iter().any(|reason| matches!(reason, Decline::NoRoom(NoRoom::Unit(_)))) {
            return;
        }
        let Some([unit]) = self.specs.get(&order).map(|spec| spec.resources.as_slice()) else {
            return;
        };
        let resources = &unit.resources;
        // Only where it can be told without placing anything.
        if unit.count != 1
            || resources.gpu.units > 0
            || resources.storage.iter().any(Storage::is_persistent)
        {
            return;
        }
        let signed = |amount: u64| i64::try_from(amount).unwrap_or(i64::MAX);
        let disk: u64 = resources.storage.iter().map(|volume| volume.quantity).sum();
        let fits = |left: &Amounts| {
            left.cpu_milli >= signed(resources.cpu.units)
                && left.memory >= signed(resources.memory.quantity)
                && left.ephemeral >= signed(disk)
        };
        let schedulable = |name: &Name| self.nodes.get(name).is_some_and(|node| node.schedulable());
        let free = free(engine, &self.nodes);
        let room = free.into_iter().find(|(name, left)| schedulable(name) && fits(left));
        if let Some((node, left)) = room {
            let text = format!("no room is seen for {order}, and node {node} has {left:?}");
            self.found(4, text);
        }
    }
}

/// What is left of each node, counted anew: others, pods that are seen, and what is planned and not
/// seen.
fn free(engine: &Engine, nodes: &BTreeMap<Name, Node>) -> BTreeMap<Name, Amounts> {
    let view = engine.cluster_view();
    let mut free: BTreeMap<Name, Amounts> = nodes
        .iter()
        .map(|(name, node)| (name.clone(), minus(node.allocatable, node.others, 1)))
        .collect();
    let mut take = |node: &Name, each: Amounts, count: i64| {
        if let Some(left) = free.get_mut(node) {
            *left = minus(*left, each, count);
        }
    };
    for pod in view.leases.values().flat_map(|lease| &lease.replicas) {
        if let Some(node) = &pod.node {
            take(node, pod.asks, 1);
        }
    }
    for record in engine.records() {
        let seen = record.lease().and_then(|lease| view.leases.get(&lease.id));
        let Some(booking) = &record.booking else { continue };
        let mut placed: Vec<BTreeMap<&Name, u32>> = vec![BTreeMap::new(); booking.units.len()];
        let pods = seen.iter().flat_map(|seen| &seen.replicas);
        for pod in pods {
            let Some(node) = pod.node.as_ref().filter(|node| nodes.contains_key(*node)) else {
                continue;
            };
            let of = unit_of(booking, seen, pod, &placed);
            if let Some(nodes) = of.and_then(|unit| placed.get_mut(unit)) {
                *nodes.entry(node).or_default() += 1;
            }
        }
        for (unit, placed) in booking.units.iter().zip(&placed) {
            let mut open = unit.count.saturating_sub(placed.values().sum());
            for (node, planned) in &unit.plan {
                let rest = planned.saturating_sub(placed.get(node).copied().unwrap_or(0)).min(open);
                open -= rest;
                take(node, unit.need.asks, i64::from(rest));
            }
        }
    }
    free
}

/// The unit of a pod: by the manifest, or, for what is on its way out and has none any more, one
/// that asks for the same and lacks a pod.
fn unit_of(
    booking: &Booking,
    seen: Option<&LeaseView>,
    pod: &Replica,
    placed: &[BTreeMap<&Name, u32>],
) -> Option<usize> {
    let group = seen.and_then(|seen| seen.held.as_ref()).map(|held| &held.group);
    let service = group.and_then(|group| group.services.iter().find(|it| it.name == pod.service));
    if let Some(service) = service {
        return booking.units.iter().position(|unit| unit.id == service.resources.id);
    }
    if booking.units.len() == 1 {
        return Some(0);
    }
    let mut equal = booking
        .units
        .iter()
        .zip(placed)
        .enumerate()
        .filter(|(_, (unit, _))| unit.need.asks == pod.asks);
    equal
        .find(|(_, (unit, placed))| placed.values().sum::<u32>() < unit.count)
        .map(|(index, _)| index)
}

const fn minus(from: Amounts, each: Amounts, count: i64) -> Amounts {
    Amounts {
        cpu_milli: from.cpu_milli - each.cpu_milli * count,
        memory: from.memory - each.memory * count,
        ephemeral: from.ephemeral - each.ephemeral * count,
        gpu: from.gpu - each.gpu * count,
    }
}
