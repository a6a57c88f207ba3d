//! What is left, computed from what is observed and what is booked.

use std::sync::Arc;

use akash_types::LeaseId;

use super::Booking;
use super::cards::{Kinds, NodeCards};
use super::usage::{self, OnNode};
use crate::cluster::view::{
    Amounts, CardChoice, ClusterView, LeaseView, Name, NodeArch, SharedDisks, StoragePlace,
};

/// What is left of a cluster. Negative where more is taken than there is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Free {
    pub(super) names: Arc<[Name]>,
    /// In the order of their names.
    pub(super) nodes: Vec<NodeFree>,
    pub(super) kinds: Arc<Kinds>,
    /// Of those nodes that have any, in their order.
    pub(super) cards: Vec<NodeCards>,
    /// In the order of their names. What those on disks of nodes have left is in `nodes`.
    pub(super) classes: Vec<(Name, i64)>,
    /// Classes whose volumes take from the disk of their node.
    pub(super) disk_classes: Arc<[Name]>,
    /// Disks that classes share, in the order of `classes`; empty if none do.
    pub(super) shared_disks: Arc<[Option<SharedDisks>]>,
    pub(super) ips: Option<i64>,
    pub(super) ports: Option<i64>,
    /// What all nodes have when nothing runs.
    pub(super) capacity: Amounts,
}

/// What is left of a node, small and flat: placement reads thousands of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NodeFree {
    pub(super) free: Amounts,
    pub(super) classes: ClassSet,
    pub(super) schedulable: bool,
    /// Whether it has cards, taken or not.
    pub(super) has_cards: bool,
    pub(super) arch: NodeArch,
}

/// Storage classes by their index in [`Free::classes`]. Those beyond the 64th are not sold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ClassSet(pub(super) u64);

impl ClassSet {
    pub(super) fn one(index: usize) -> Option<Self> {
        let shift = u32::try_from(index).ok()?;
        1_u64.checked_shl(shift).map(Self)
    }

    pub(super) const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What is left of one node, for showing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeNode<'a> {
    pub name: &'a Name,
    /// Whether new pods may be put on it.
    pub schedulable: bool,
    pub free: Amounts,
}

impl Free {
    /// What is left of `view`, given all bookings, each with what is seen of its lease. Leases that
    /// are seen and not booked count as they are seen.
    pub fn compute<'a>(
        view: &ClusterView,
        bookings: impl IntoIterator<Item = (&'a Booking, Option<&'a LeaseView>)>,
    ) -> Self {
        Self::compute_but(view, bookings, None)
    }

    /// The same as if lease `but` were not there.
    pub fn compute_but<'a>(
        view: &ClusterView,
        bookings: impl IntoIterator<Item = (&'a Booking, Option<&'a LeaseView>)>,
        but: Option<LeaseId>,
    ) -> Self {
        let mut free = Self::before_leases(view);
        let mut booked: Vec<LeaseId> = but.into_iter().collect();
        for (booking, seen) in bookings {
            booked.extend(seen.map(|seen| seen.id));
            free.take(Some(booking), seen);
        }
        booked.sort_unstable();
        for (id, seen) in &view.leases {
            if booked.binary_search(id).is_err() {
                free.take(None, Some(seen));
            }
        }
        free
    }

    /// What is left once `booking` is made as well, of which nothing runs yet.
    pub fn without(&self, booking: &Booking) -> Self {
        let mut rest = self.clone();
        rest.take(Some(booking), None);
        rest
    }

    /// What is left of each node, by name.
    pub fn nodes(&self) -> impl Iterator<Item = FreeNode<'_>> {
        let pairs = self.names.iter().zip(&self.nodes);
        pairs.map(|(name, node)| FreeNode { name, schedulable: node.schedulable, free: node.free })
    }

    /// Cards of a kind that are left on a node.
    pub fn cards(&self, node: &str, choice: &CardChoice) -> i64 {
        let index = self.index(node);
        let cards = self.cards.iter().find(|cards| Some(cards.node) == index);
        cards.map_or(0, |cards| cards.free(self.kinds.matching(choice)))
    }

    /// Bytes of persistent storage that are left, by class.
    pub fn storage(&self) -> impl Iterator<Item = (&Name, i64)> {
        self.classes.iter().enumerate().map(|(index, (name, bytes))| {
            if !self.disk_classes.contains(name) {
                return (name, *bytes);
            }
            let class = ClassSet::one(index).unwrap_or_default();
            let nodes = self.nodes.iter();
            let nodes = nodes.filter(|node| node.schedulable && node.classes.contains(class));
            (name, nodes.fold(0, |sum, node| sum.saturating_add(node.free.ephemeral.max(0))))
        })
    }

    /// Addresses that are left; `None` if nobody hands any out.
    pub const fn ips(&self) -> Option<i64> {
        self.ips
    }

    /// Ports that are left; `None` if unlimited.
    pub const fn ports(&self) -> Option<i64> {
        self.ports
    }

    pub(super) fn index(&self, node: &str) -> Option<usize> {
        self.names.binary_search_by(|name| (**name).cmp(node)).ok()
    }

    pub(super) fn class(&self, name: &str) -> Option<usize> {
        self.classes.binary_search_by(|(class, _)| (**class).cmp(name)).ok()
    }

    fn before_leases(view: &ClusterView) -> Self {
        let kinds = Kinds::of(view);
        let on_disks = view.storage.iter().filter(|(_, it)| it.place == StoragePlace::NodeDisk);
        let sold = || view.storage.iter().filter(|(_, class)| class.unsold.is_none());
        let mut free = Self {
            disk_classes: on_disks.map(|(name, _)| name.clone()).collect(),
            names: view.nodes.keys().cloned().collect(),
            classes: sold().map(|(name, class)| (name.clone(), class.allocatable)).collect(),
            shared_disks: match sold().any(|(_, class)| class.disks.is_some()) {
                true => sold().map(|(_, class)| class.disks.clone()).collect(),
                false => Arc::default(),
            },
            ips: view.ips.map(|pool| minus(signed(pool.total), signed(pool.others))),
            ports: view.ports.map(|pool| minus(signed(pool.total), signed(pool.others))),
            ..Self::default()
        };
        for (index, (_, class)) in sold().enumerate() {
            free.take_storage(index, class.others);
        }
        for (index, node) in view.nodes.values().enumerate() {
            let classes = node.storage_classes.iter().filter_map(|name| free.class(name));
            let classes = classes.filter_map(ClassSet::one).fold(0, |set, one| set | one.0);
            free.nodes.push(NodeFree {
                free: less(node.allocatable, node.others, 1),
                classes: ClassSet(classes),
                schedulable: node.schedulable(),
                has_cards: !node.cards.is_empty() || node.allocatable.gpu > 0,
                arch: node.arch,
            });
            if !node.cards.is_empty() {
                free.cards.push(NodeCards::of(index, node, &kinds));
            }
            let negative = less(Amounts::default(), node.allocatable, 1);
            free.capacity = less(free.capacity, negative, 1);
        }
        free.kinds = Arc::new(kinds);
        free
    }

    /// Takes bytes of a class, and what they mean for classes on the same disks.
    pub(super) fn take_storage(&mut self, class: usize, bytes: i64) {
        let disks = Arc::clone(&self.shared_disks);
        let own = disks.get(class).and_then(Option::as_ref);
        for (index, (_, free)) in self.classes.iter_mut().enumerate() {
            let other = disks.get(index).and_then(Option::as_ref);
            let taken = match (own, other) {
                _ if index == class => bytes,
                (Some(own), Some(other)) => own.bytes_for(bytes, other),
                _ => 0,
            };
            *free = minus(*free, taken);
        }
    }

    /// How much `volumes` take of a class, those of other classes on the same disks included.
    pub(super) fn storage_taken(&self, class: usize, volumes: &[(Name, i64)]) -> i64 {
        let own = self.shared_disks.get(class).and_then(Option::as_ref);
        let taken = volumes.iter().filter_map(|(name, bytes)| {
            let index = self.class(name)?;
            if index == class {
                return Some(*bytes);
            }
            let other = self.shared_disks.get(index)?.as_ref()?;
            Some(other.bytes_for(*bytes, own?))
        });
        taken.fold(0, i64::saturating_add)
    }

    fn take(&mut self, booking: Option<&Booking>, seen: Option<&LeaseView>) {
        let (names, disk_classes) = (self.names.clone(), self.disk_classes.clone());
        let exists = |node: &Name| names.binary_search(node).is_ok();
        usage::on_nodes(booking, seen, exists, &disk_classes, |used| self.take_on_node(used));
        for (class, bytes) in usage::volumes(booking, seen) {
            if let Some(class) = self.class(class) {
                self.take_storage(class, bytes);
            }
        }
        if let Some(ips) = &mut self.ips {
            *ips = minus(*ips, signed(usage::ips(booking, seen)));
        }
        if let Some(ports) = &mut self.ports {
            *ports = minus(*ports, signed(usage::ports(booking, seen)));
        }
    }

    /// What is on a node that is not there takes nothing.
    pub(super) fn take_on_node(&mut self, used: OnNode<'_>) {
        let Some(index) = self.index(used.node) else { return };
        let Some(node) = self.nodes.get_mut(index) else { return };
        node.free = less(node.free, used.each, used.count);
        if used.each.gpu > 0
            && let Ok(at) = self.cards.binary_search_by_key(&index, |cards| cards.node)
            && let Some(cards) = self.cards.get_mut(at)
        {
            let kinds = used.card.map(|choice| self.kinds.matching(choice));
            cards.take(kinds, used.each.gpu.saturating_mul(i64::from(used.count)));
        }
    }
}

/// `from` less `count` times `each`.
pub(super) fn less(from: Amounts, each: Amounts, count: u32) -> Amounts {
    let less = |from, each: i64| minus(from, each.saturating_mul(i64::from(count)));
    Amounts {
        cpu_milli: less(from.cpu_milli, each.cpu_milli),
        memory: less(from.memory, each.memory),
        ephemeral: less(from.ephemeral, each.ephemeral),
        gpu: less(from.gpu, each.gpu),
    }
}

const fn minus(from: i64, amount: i64) -> i64 {
    from.saturating_sub(amount)
}

fn signed(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}
