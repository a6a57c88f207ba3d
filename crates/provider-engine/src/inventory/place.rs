//! Finding a place for every replica of a group, or none for any.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::fill::{Ask, Prefer, fill, largest_share};
use super::free::{ClassSet, Free};
use super::shortage::shortage;
use super::usage::OnNode;
use super::{Booking, GroupNeed, Need, NoRoom, UnitBooking, UnitNeed};
use crate::cluster::view::CardChoice;

/// Finds nodes for all of `need`: every resource, one kind of card per unit, all replicas or none.
/// The same input gives the same plan.
///
/// Replicas go to the tightest nodes that hold them; where units then are in each other's way, the
/// Go provider's order is tried as well, so that what it can place is placed here too.
/// Fails when something does not fit: the first thing, and what it was short of.
pub fn place(free: &Free, need: &GroupNeed) -> Result<Booking, NoRoom> {
    check_shared(free, need)?;
    let units = match &*need.units {
        [unit] => Box::new([place_unit(free, unit, Prefer::Tightest)?]),
        units => {
            let hardest_first =
                place_units(free, units, &hardest_first(free, units), Prefer::Tightest);
            hardest_first.or_else(|short| {
                let last_first: Vec<_> = (0..units.len()).rev().collect();
                place_units(free, units, &last_first, Prefer::First).map_err(|_| short)
            })?
        }
    };
    Ok(Booking { units, ips: need.ips, ports: need.ports })
}

/// What the whole group shares: addresses and ports.
fn check_shared(free: &Free, need: &GroupNeed) -> Result<(), NoRoom> {
    let short = |wanted: u64, free: i64| wanted > 0 && i128::from(free) < i128::from(wanted);
    match (need.ips, free.ips) {
        (0, _) => {}
        (wanted, None) => return Err(NoRoom::NoIpPool { wanted }),
        (wanted, Some(free)) if short(wanted, free) => return Err(NoRoom::Ips { wanted, free }),
        _ => {}
    }
    match (need.ports, free.ports) {
        (wanted, Some(free)) if short(wanted, free) => Err(NoRoom::Ports { wanted, free }),
        _ => Ok(()),
    }
}

/// Units with cards first, those with the least choice before others; then by size.
fn hardest_first(free: &Free, units: &[UnitNeed]) -> Vec<usize> {
    let mut order: Vec<_> = units
        .iter()
        .enumerate()
        .map(|(index, unit)| {
            let gpu = unit.need.asks.gpu;
            let choice = if gpu > 0 { free.kinds.promises(&unit.cards).len() } else { usize::MAX };
            let share = largest_share(&unit.need.on_node(&free.disk_classes), &free.capacity);
            (choice, Reverse(gpu), Reverse(share), index)
        })
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(.., index)| index).collect()
}

fn place_units(
    free: &Free,
    units: &[UnitNeed],
    order: &[usize],
    prefer: Prefer,
) -> Result<Box<[UnitBooking]>, NoRoom> {
    let mut left = Cow::Borrowed(free);
    let mut booked: Vec<_> = Vec::with_capacity(units.len());
    for (done, index) in order.iter().enumerate() {
        let Some(unit) = units.get(*index) else { continue };
        let unit = place_unit(&left, unit, prefer)?;
        if done + 1 < order.len() {
            left.to_mut().take_unit(&unit);
        }
        booked.push((*index, unit));
    }
    booked.sort_unstable_by_key(|(index, _)| *index);
    Ok(booked.into_iter().map(|(_, unit)| unit).collect())
}

fn place_unit(free: &Free, unit: &UnitNeed, prefer: Prefer) -> Result<UnitBooking, NoRoom> {
    let most = most_of_unit(free, unit, unit.count, None, prefer);
    if most.fitted < unit.count {
        let mut left = free.clone();
        left.take_places(unit, &most);
        return Err(shortage(&left, unit, most.fitted, most.card.as_ref()));
    }
    let plan = most
        .plan
        .into_iter()
        .filter_map(|(node, count)| free.names.get(node).map(|name| (name.clone(), count)));
    Ok(UnitBooking::new(unit, most.card, plan))
}

/// Places for replicas, by index of the node.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) card: Option<CardChoice>,
    pub(super) plan: Vec<(usize, u32)>,
    pub(super) fitted: u32,
}

/// As many of `count` replicas of a unit as there are places for, all with one kind of card: the
/// first that will do for all, else the one that will do for most.
pub(super) fn most_of_unit(
    free: &Free,
    unit: &UnitNeed,
    count: u32,
    promised: Option<&CardChoice>,
    prefer: Prefer,
) -> Places {
    let mut classes = ClassSet::default();
    let mut count = count;
    for (name, _) in &unit.need.volumes {
        let index = free.class(name);
        let one =
            index.and_then(|index| Some((index, ClassSet::one(index)?, free.classes.get(index)?)));
        let Some((index, one, (name, left))) = one else { return Places::default() };
        classes.0 |= one.0;
        if free.disk_classes.contains(name) {
            continue;
        }
        let each = free.storage_taken(index, &unit.need.volumes);
        let room = left.max(&0) / each.max(1);
        count = u32::try_from(room).unwrap_or(u32::MAX).min(count);
    }
    let each = unit.need.on_node(&free.disk_classes);
    let filled = |card: Option<CardChoice>| {
        let cards = card.as_ref().map(|choice| free.kinds.matching(choice));
        let arch = unit.need.arch;
        let plan = fill(free, &Ask { each, arch, classes, cards, count }, prefer);
        let fitted = plan.iter().fold(0_u32, |sum, (_, count)| sum.saturating_add(*count));
        Places { card, plan, fitted }
    };
    if count == 0 {
        return Places::default();
    }
    if each.gpu == 0 {
        return filled(None);
    }
    let choices = match promised {
        Some(choice) => vec![choice.clone()],
        None => free.kinds.promises(&unit.cards),
    };
    let mut most = Places::default();
    for choice in choices {
        let places = filled(Some(choice));
        if places.fitted > most.fitted {
            most = places;
        }
        if most.fitted == count {
            break;
        }
    }
    most
}

impl Free {
    /// Takes what a unit is booked.
    fn take_unit(&mut self, unit: &UnitBooking) {
        let each = unit.need.on_node(&self.disk_classes);
        for (node, count) in &unit.plan {
            let card = unit.card.as_ref();
            self.take_on_node(OnNode { node, each, count: *count, card });
        }
        self.take_volumes(&unit.need, unit.count);
    }

    /// Takes what replicas of a unit have at these places.
    pub(super) fn take_places(&mut self, unit: &UnitNeed, places: &Places) {
        let names = self.names.clone();
        let each = unit.need.on_node(&self.disk_classes);
        for (node, count) in &places.plan {
            let Some(node) = names.get(*node) else { continue };
            let card = places.card.as_ref();
            self.take_on_node(OnNode { node, each, count: *count, card });
        }
        self.take_volumes(&unit.need, places.fitted);
    }

    /// Takes the volumes of `count` replicas.
    pub(super) fn take_volumes(&mut self, need: &Need, count: u32) {
        for (class, each) in &need.volumes {
            if let Some(class) = self.class(class) {
                self.take_storage(class, each.saturating_mul(i64::from(count)));
            }
        }
    }
}
