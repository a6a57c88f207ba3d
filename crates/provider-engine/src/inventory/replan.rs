//! The booking of a lease, after what became of it.

use super::fill::{Ask, Prefer, fits_node};
use super::free::{ClassSet, Free};
use super::place::most_of_unit;
use super::shortage::shortage;
use super::usage::{self, OnNode};
use super::{Booking, GroupNeed, NoRoom, UnitBooking, UnitNeed};
use crate::cluster::view::{CardChoice, LeaseView, Name};

/// A booking made anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replanned {
    /// What the lease holds now.
    pub booking: Booking,
    /// What replicas without a place are short of, if there are any. The lease stays all the same:
    /// it was sold.
    pub homeless: Option<NoRoom>,
}

/// Books what a lease needs: when its manifest changes, when a node goes, when it is found in the
/// cluster after a start.
///
/// Replicas that are on a node stay there, whether or not they would be put there now. Those that
/// are planned stay planned where they still fit. Only the rest is placed, with the cards that were
/// promised. `free` must be computed without this lease: it holds its own room while it changes.
pub fn replan(
    free: &Free,
    need: &GroupNeed,
    before: Option<&Booking>,
    seen: Option<&LeaseView>,
) -> Replanned {
    let mut free = free.clone();
    // The units as they shall be, with which observed pods are matched.
    let blank = need.units.iter().map(|unit| UnitBooking::new(unit, None, []));
    let mut booking = Booking { units: blank.collect(), ips: need.ips, ports: need.ports };
    let mut on_nodes = Vec::<OnNode<'_>>::new();
    let exists = |node: &Name| free.index(node).is_some();
    let observed = usage::observed(Some(&booking), seen, exists, &free.disk_classes, |used| {
        on_nodes.push(used);
    });
    for used in on_nodes {
        free.take_on_node(used);
    }
    let mut plans = Vec::with_capacity(need.units.len());
    for (index, unit) in need.units.iter().enumerate() {
        let old = before.and_then(|before| before.unit(unit.id));
        let card = old.and_then(|old| old.card.clone()).or_else(|| promised(unit, seen));
        let mut plan = Plan { open: unit.count, nodes: Vec::new() };
        for (node, count) in observed.nodes(index) {
            plan.add(node, count);
        }
        plans.push((unit, old, card, plan));
    }
    for (unit, old, card, plan) in &mut plans {
        let seen_on: Vec<_> = plan.nodes.clone();
        for (node, planned) in old.iter().flat_map(|old| old.plan.iter()) {
            let seen_here = seen_on.iter().find(|(seen, _)| seen == node);
            let rest = planned.saturating_sub(seen_here.map_or(0, |(_, count)| *count));
            let fits = still_fits(&free, unit, card.as_ref(), node, rest.min(plan.open));
            take(&mut free, unit, card.as_ref(), node, fits);
            plan.add(node, fits);
        }
    }
    for (unit, _, _, plan) in &plans {
        free.take_volumes(&unit.need, unit.count - plan.open);
    }
    let mut homeless = None;
    for (unit, _, card, plan) in &mut plans {
        if plan.open == 0 {
            continue;
        }
        let places = most_of_unit(&free, unit, plan.open, card.as_ref(), Prefer::Tightest);
        free.take_places(unit, &places);
        *card = card.take().or(places.card);
        for (node, count) in places.plan {
            if let Some(node) = free.names.get(node) {
                plan.add(node, count);
            }
        }
        if plan.open > 0 && homeless.is_none() {
            homeless = Some(shortage(&free, unit, unit.count - plan.open, card.as_ref()));
        }
    }
    booking.units = plans
        .into_iter()
        .map(|(unit, _, card, plan)| UnitBooking::new(unit, card, plan.nodes))
        .collect();
    Replanned { booking, homeless }
}

/// Where replicas are or shall be, and how many have no place yet.
struct Plan {
    open: u32,
    nodes: Vec<(Name, u32)>,
}

impl Plan {
    fn add(&mut self, node: &Name, count: u32) {
        let count = count.min(self.open);
        self.open -= count;
        match self.nodes.iter_mut().find(|(known, _)| known == node) {
            _ if count == 0 => {}
            Some((_, sum)) => *sum += count,
            None => self.nodes.push((node.clone(), count)),
        }
    }
}

fn take(free: &mut Free, unit: &UnitNeed, card: Option<&CardChoice>, node: &Name, count: u32) {
    let each = unit.need.on_node(&free.disk_classes);
    free.take_on_node(OnNode { node, each, count, card });
}

/// The cards that a unit was promised, as far as the cluster tells.
fn promised(unit: &UnitNeed, seen: Option<&LeaseView>) -> Option<CardChoice> {
    if unit.need.asks.gpu == 0 {
        return None;
    }
    let seen = seen?;
    let held = seen.held.as_ref()?;
    held.group.services.iter().filter(|service| service.resources.id == unit.id).find_map(
        |service| {
            let of_service = |name: &str| name == service.name;
            let pinned = || {
                let pods = seen.replicas.iter().filter(|replica| of_service(&replica.service));
                pods.filter_map(|replica| replica.card.clone()).next()
            };
            held.cards.get(&service.name).cloned().or_else(pinned)
        },
    )
}

/// How many of `count` planned replicas still fit on their node.
fn still_fits(
    free: &Free,
    unit: &UnitNeed,
    card: Option<&CardChoice>,
    node: &Name,
    count: u32,
) -> u32 {
    let Some((index, left)) = free.index(node).and_then(|at| Some((at, free.nodes.get(at)?)))
    else {
        return 0;
    };
    let each = unit.need.on_node(&free.disk_classes);
    let (arch, classes) = (unit.need.arch, ClassSet::default());
    let fits = fits_node(left, &Ask { each, arch, classes, cards: None, count });
    let Some(card) = card.filter(|_| each.gpu > 0) else { return fits };
    let cards = free.cards.iter().find(|cards| cards.node == index);
    let left = cards.map_or(0, |cards| cards.free(free.kinds.matching(card)));
    u32::try_from(left.max(0) / each.gpu).unwrap_or(u32::MAX).min(fits)
}
