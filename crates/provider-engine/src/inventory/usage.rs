//! What a booking and what is seen of its lease take together, each replica once.
//!
//! A replica that is on a node counts there, with what its pod really asks for. One that is not is
//! counted where it is planned. Pods that end still count where they are, and stand for a replica:
//! whatever replaces them gets the same room.

use std::collections::BTreeMap;

use akash_types::{EndpointKind, Storage};

use super::{Booking, UnitBooking};
use crate::cluster::view::{Amounts, CardChoice, LeaseView, Name, Replica};

/// Equal replicas on one node.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnNode<'a> {
    pub(super) node: &'a Name,
    pub(super) each: Amounts,
    pub(super) count: u32,
    pub(super) card: Option<&'a CardChoice>,
}

/// Tells `take` of everything that is on a node or planned there.
pub(super) fn on_nodes<'a>(
    booking: Option<&'a Booking>,
    seen: Option<&'a LeaseView>,
    exists: impl Fn(&Name) -> bool,
    disk_classes: &[Name],
    mut take: impl FnMut(OnNode<'a>),
) {
    let observed = observed(booking, seen, exists, disk_classes, &mut take);
    for (index, unit) in booking.iter().flat_map(|booking| booking.units.iter()).enumerate() {
        let mut open = unit.count.saturating_sub(observed.of(index));
        for (node, planned) in &unit.plan {
            let count = planned.saturating_sub(observed.on(index, node)).min(open);
            if count > 0 {
                open -= count;
                let (each, card) = (unit.need.on_node(disk_classes), unit.card.as_ref());
                take(OnNode { node, each, count, card });
            }
        }
    }
}

/// Replicas that are on a node, by unit and node; tells `take` of each.
pub(super) fn observed<'a>(
    booking: Option<&Booking>,
    seen: Option<&'a LeaseView>,
    exists: impl Fn(&Name) -> bool,
    disk_classes: &[Name],
    mut take: impl FnMut(OnNode<'a>),
) -> Observed<'a> {
    let mut observed = Observed::default();
    let Some(seen) = seen else { return observed };
    for replica in &seen.replicas {
        // A pod on a node that is gone is history; its replica needs another place.
        let Some(node) = replica.node.as_ref().filter(|node| exists(node)) else { continue };
        let unit = booking.and_then(|booking| unit_of(booking, seen, replica, &observed));
        let (ram, disk) = match unit.and_then(|unit| booking?.units.get(unit)) {
            Some(UnitBooking { need, .. }) => {
                let on_node = need.on_node(disk_classes);
                (need.ram, on_node.ephemeral.saturating_sub(need.asks.ephemeral))
            }
            None => held_volumes(seen, replica, disk_classes),
        };
        if let Some(unit) = unit {
            *observed.0.entry((unit, node)).or_default() += 1;
        }
        let each = Amounts {
            memory: replica.asks.memory.saturating_add(ram),
            ephemeral: replica.asks.ephemeral.saturating_add(disk),
            ..replica.asks
        };
        take(OnNode { node, each, count: 1, card: replica.card.as_ref() });
    }
    observed
}

/// How many replicas of a unit are on which node.
#[derive(Debug, Default)]
pub(super) struct Observed<'a>(BTreeMap<(usize, &'a Name), u32>);

impl<'a> Observed<'a> {
    fn of(&self, unit: usize) -> u32 {
        self.nodes(unit).fold(0, |sum, (_, count)| sum.saturating_add(count))
    }

    fn on(&self, unit: usize, node: &'a Name) -> u32 {
        self.0.get(&(unit, node)).copied().unwrap_or_default()
    }

    /// Nodes with replicas of a unit, in order, and how many.
    pub(super) fn nodes(&self, unit: usize) -> impl Iterator<Item = (&'a Name, u32)> {
        let of_unit = self.0.iter().filter(move |((of, _), _)| *of == unit);
        of_unit.map(|((_, node), count)| (*node, *count))
    }
}

/// The unit that a replica is of: through the service in the manifest that the cluster holds. Where
/// that does not say, the only unit, or one whose pods ask for the same: rather one that has not
/// all of its replicas yet, since equal units are told apart by nothing else.
fn unit_of(
    booking: &Booking,
    seen: &LeaseView,
    replica: &Replica,
    observed: &Observed<'_>,
) -> Option<usize> {
    let by_service = service(seen, replica)
        .and_then(|service| booking.units.iter().position(|unit| unit.id == service.resources.id));
    let by_asks = || match &*booking.units {
        [_] => Some(0),
        units => {
            let equal = || {
                let all = units.iter().enumerate();
                all.filter(|(_, unit)| unit.need.asks == replica.asks)
            };
            let open = equal().find(|(index, unit)| observed.of(*index) < unit.count);
            open.or_else(|| equal().next()).map(|(index, _)| index)
        }
    };
    by_service.or_else(by_asks)
}

fn service<'a>(seen: &'a LeaseView, replica: &Replica) -> Option<&'a akash_sdl::manifest::Service> {
    seen.held.as_ref()?.group.services.iter().find(|service| service.name == replica.service)
}

/// Bytes of the volumes of a lease without a booking, in full: memory behind those of class `ram`,
/// and disk of the node behind those of `disk_classes`.
fn held_volumes(seen: &LeaseView, replica: &Replica, disk_classes: &[Name]) -> (i64, i64) {
    let volumes = service(seen, replica).and_then(|service| service.resources.storage.as_deref());
    let sum = |is: &dyn Fn(&Storage) -> bool| {
        let found = volumes.unwrap_or_default().iter().filter(|volume| is(volume));
        found.fold(0, |sum: i64, volume| {
            sum.saturating_add(i64::try_from(volume.quantity).unwrap_or(i64::MAX))
        })
    };
    let is_on_disk = |volume: &Storage| {
        let class = volume.class().filter(|_| volume.is_persistent());
        class.is_some_and(|class| disk_classes.iter().any(|known| **known == *class))
    };
    (sum(&Storage::is_ram), sum(&is_on_disk))
}

/// Bytes of persistent storage by class: what volumes have or shall have, whichever is more.
pub(super) fn volumes<'a>(
    booking: Option<&'a Booking>,
    seen: Option<&'a LeaseView>,
) -> BTreeMap<&'a Name, i64> {
    let mut bytes = BTreeMap::new();
    for unit in booking.iter().flat_map(|booking| booking.units.iter()) {
        for (class, each) in &unit.need.volumes {
            let all = each.saturating_mul(i64::from(unit.count));
            let sum: &mut i64 = bytes.entry(class).or_default();
            *sum = sum.saturating_add(all);
        }
    }
    for (class, has) in seen.iter().flat_map(|seen| &seen.volumes) {
        let sum = bytes.entry(class).or_default();
        *sum = (*sum).max(*has);
    }
    bytes
}

/// Leased addresses: what it has or shall have, whichever is more.
pub(super) fn ips(booking: Option<&Booking>, seen: Option<&LeaseView>) -> u64 {
    let shall = booking.map_or(0, |booking| booking.ips);
    seen.map_or(0, |seen| seen.ips).max(shall)
}

/// Ports on nodes: what it has or shall have, whichever is more. What it shall have is what is
/// booked, else what the held manifest says.
pub(super) fn ports(booking: Option<&Booking>, seen: Option<&LeaseView>) -> u64 {
    let has = seen.map_or(0, |seen| seen.ports);
    if let Some(booking) = booking {
        return booking.ports.max(has);
    }
    let held = seen.and_then(|seen| seen.held.as_ref());
    let services = held.iter().flat_map(|held| &held.group.services);
    let endpoints = services.flat_map(|service| service.resources.endpoints.iter().flatten());
    let ports = endpoints.filter(|endpoint| endpoint.kind == EndpointKind::RandomPort).count();
    has.max(ports as u64)
}
