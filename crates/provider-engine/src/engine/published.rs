//! Everything that others may see, in one value that nobody has to wait for.

use std::collections::{BTreeMap, BTreeSet};

use akash_types::{DecCoin, DeploymentId, LeaseId, OrderId};

use super::{Engine, LeaseStatus, Listing, Status};
use crate::cluster::view::{
    Amounts, ClusterView, Condition, Exclusion, GpuCard, Name, NodeArch, StoragePlace,
};
use crate::inventory::Booking;
use crate::order;

/// What the engine shows of itself. Whoever is asked for a status answers from the newest of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    pub status: Status,
    /// Every lease, by its id.
    pub leases: LeaseIndex,
    /// Every bid that is open, on its way to the chain, or on its way out.
    pub bids: Vec<BidStatus>,
    /// What there is and what is kept for whom; `None` before the cluster was seen.
    pub inventory: Option<InventoryStatus>,
    /// Deployments that have a lease of ours.
    pub deployments: usize,
    /// Deployments whose manifest the cluster holds.
    pub manifests: usize,
    /// Where views disagree: how often, by kind.
    pub drift: BTreeMap<&'static str, usize>,
}

/// Leases in the order of their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaseIndex(Vec<LeaseStatus>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BidStatus {
    pub order: OrderId,
    /// What we ask for per block; `None` for a bid that is on its way out.
    pub price: Option<DecCoin>,
    /// Stage of the order: bidding, abandoned, open or closing.
    pub stage: &'static str,
    /// Height at which it was made; `None` unless it is open.
    pub created_at: Option<u64>,
}

impl BidStatus {
    /// Whether the bid is open on chain and wanted.
    pub const fn is_open(&self) -> bool {
        self.created_at.is_some()
    }
}

/// What there is, and what of it is kept for whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InventoryStatus {
    /// Nodes in the order of their names.
    pub nodes: Vec<NodeStatus>,
    /// Persistent storage by class.
    pub storage: Vec<StorageStatus>,
    /// Classes that are not sold, and why.
    pub unsold_storage: Vec<(Name, Name)>,
    /// Addresses that can be leased.
    pub ips: IpStatus,
    /// Ports on nodes that are left; `None` if unlimited.
    pub ports: Option<i64>,
    /// What is kept, one entry for each order or lease.
    pub reserved: Vec<Reserved>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeStatus {
    pub name: Name,
    /// Why no new pods may be put on it; empty if they may.
    pub exclusions: Vec<Exclusion>,
    /// What pods can ask for in all.
    pub allocatable: Amounts,
    pub available: Amounts,
    pub cards: Vec<GpuCard>,
    /// Leases that have cards of it.
    pub card_holders: Vec<CardHolder>,
    /// Devices that it offers and no lease can ask for, by resource name.
    pub unsold_devices: BTreeMap<Name, i64>,
    /// Classes of persistent storage that can be attached to it.
    pub storage_classes: Vec<Name>,
    pub arch: NodeArch,
    /// Persistent volumes of leases that are attached to it.
    pub volumes: VolumeCounts,
}

/// A replica of a lease that has cards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardHolder {
    pub lease: LeaseId,
    pub service: String,
    /// Model that it was promised, if that is known.
    pub model: Option<Name>,
    pub count: i64,
}

/// Persistent volumes of leases on a node: those of all replicas that have their place there, and
/// those of replicas that work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VolumeCounts {
    /// Of replicas that have their place there.
    pub attached: u32,
    /// Of replicas that work.
    pub mounted: u32,
}

/// Persistent storage of a class, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorageStatus {
    pub class: Name,
    pub allocatable: i64,
    pub available: i64,
    pub place: StoragePlace,
}

/// Addresses that can be leased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IpStatus {
    pub total: u64,
    /// How many are in use or kept.
    pub used: u64,
}

/// What is kept for one order or lease, all replicas together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserved {
    pub order: OrderId,
    pub active: bool,
    pub amounts: Amounts,
    /// Bytes of persistent storage by class.
    pub storage: BTreeMap<Name, i64>,
    pub ports: u64,
    pub ips: u64,
}

impl LeaseIndex {
    pub fn get(&self, id: LeaseId) -> Option<&LeaseStatus> {
        let found = self.0.binary_search_by_key(&id, |lease| lease.id).ok()?;
        self.0.get(found)
    }

    pub fn iter(&self) -> impl Iterator<Item = &LeaseStatus> {
        self.0.iter()
    }

    pub fn of_deployment(&self, id: DeploymentId) -> impl Iterator<Item = &LeaseStatus> {
        self.0.iter().filter(move |lease| lease.id.deployment_id() == id)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<LeaseStatus> for LeaseIndex {
    fn from_iter<I: IntoIterator<Item = LeaseStatus>>(leases: I) -> Self {
        let mut leases: Vec<_> = leases.into_iter().collect();
        leases.sort_unstable_by_key(|lease| lease.id);
        Self(leases)
    }
}

impl Engine {
    /// Everything that others may see, now.
    pub fn published(&mut self) -> Published {
        let inventory = self.start.has(Listing::Cluster).then(|| self.inventory_status());
        let leases: LeaseIndex = self.leases().collect();
        let deployments: BTreeSet<_> =
            leases.iter().map(|lease| lease.id.deployment_id()).collect();
        let bids = self.records.iter().filter_map(|record| {
            let stage = record.order().filter(|stage| stage.has_bid())?;
            let (price, created_at) = match stage {
                order::Stage::Open(bid) => (Some(bid.price.clone()), Some(bid.created_at)),
                order::Stage::Bidding(_, price) => (Some(price.clone()), None),
                _ => (None, None),
            };
            Some(BidStatus { order: record.id, price, stage: stage.name(), created_at })
        });
        let held = self.cluster.view.leases.values().filter(|lease| lease.held.is_some());
        let manifests: BTreeSet<_> = held.map(|lease| lease.id.deployment_id()).collect();
        Published {
            bids: bids.collect(),
            deployments: deployments.len(),
            manifests: manifests.len(),
            drift: self.reconciliation.drift_counts(),
            leases,
            inventory,
            status: self.status(),
        }
    }

    fn inventory_status(&mut self) -> InventoryStatus {
        let free = self.free().clone();
        let view = &self.cluster.view;
        let volumes = volumes_by_node(view);
        let mut holders = card_holders(view);
        let nodes = view.nodes.iter().zip(free.nodes()).map(|((name, node), left)| NodeStatus {
            volumes: volumes.get(name).copied().unwrap_or_default(),
            card_holders: holders.remove(name).unwrap_or_default(),
            name: name.clone(),
            exclusions: node.exclusions.clone(),
            unsold_devices: node.unsold_devices.clone(),
            allocatable: node.allocatable,
            available: left.free,
            cards: node.cards.clone(),
            storage_classes: node.storage_classes.clone(),
            arch: node.arch,
        });
        let (sold, unsold): (Vec<_>, Vec<_>) =
            view.storage.iter().partition(|(_, class)| class.unsold.is_none());
        let unsold = unsold
            .into_iter()
            .filter_map(|(name, class)| Some((name.clone(), class.unsold.clone()?)));
        let storage = sold.into_iter().zip(free.storage());
        let storage = storage.map(|((class, size), (_, available))| StorageStatus {
            class: class.clone(),
            allocatable: size.allocatable,
            available,
            place: size.place,
        });
        let total = view.ips.map_or(0, |pool| pool.total);
        let left = free.ips().map_or(0, |left| u64::try_from(left).unwrap_or(0));
        let reserved = self.reservations().map(|kept| {
            let (amounts, storage) = sums(kept.booking);
            Reserved {
                order: kept.order,
                active: kept.active,
                amounts,
                storage,
                ports: kept.booking.ports,
                ips: kept.booking.ips,
            }
        });
        InventoryStatus {
            nodes: nodes.collect(),
            storage: storage.collect(),
            unsold_storage: unsold.collect(),
            ips: IpStatus { total, used: total.saturating_sub(left) },
            ports: free.ports(),
            reserved: reserved.collect(),
        }
    }
}

/// Persistent volumes of leases, by the node that their replica is on.
fn volumes_by_node(view: &ClusterView) -> BTreeMap<&Name, VolumeCounts> {
    let mut counts: BTreeMap<&Name, VolumeCounts> = BTreeMap::new();
    for lease in view.leases.values() {
        let services = lease.held.iter().flat_map(|held| &held.group.services);
        for service in services {
            let storage = service.resources.storage.iter().flatten();
            let volumes = storage.filter(|volume| volume.is_persistent()).count();
            let volumes = u32::try_from(volumes).unwrap_or(u32::MAX);
            if volumes == 0 {
                continue;
            }
            for replica in lease.replicas.iter().filter(|it| it.service == service.name) {
                let Some(node) = &replica.node else { continue };
                let count = counts.entry(node).or_default();
                count.attached = count.attached.saturating_add(volumes);
                if replica.condition == Condition::Ready {
                    count.mounted = count.mounted.saturating_add(volumes);
                }
            }
        }
    }
    counts
}

/// Replicas of leases that have cards, by node.
fn card_holders(view: &ClusterView) -> BTreeMap<&Name, Vec<CardHolder>> {
    let mut holders: BTreeMap<&Name, Vec<CardHolder>> = BTreeMap::new();
    for lease in view.leases.values() {
        for replica in lease.replicas.iter().filter(|replica| replica.asks.gpu > 0) {
            let Some(node) = &replica.node else { continue };
            holders.entry(node).or_default().push(CardHolder {
                lease: lease.id,
                service: replica.service.clone(),
                model: replica.card.as_ref().map(|card| card.model.clone()),
                count: replica.asks.gpu,
            });
        }
    }
    holders
}

/// What all replicas of a booking have together.
fn sums(booking: &Booking) -> (Amounts, BTreeMap<Name, i64>) {
    let mut amounts = Amounts::default();
    let mut storage = BTreeMap::new();
    for unit in &booking.units {
        let count = i64::from(unit.count);
        let add = |sum: &mut i64, each: i64| *sum = sum.saturating_add(each.saturating_mul(count));
        let each = unit.need.on_node(&[]);
        add(&mut amounts.cpu_milli, each.cpu_milli);
        add(&mut amounts.memory, each.memory);
        add(&mut amounts.ephemeral, each.ephemeral);
        add(&mut amounts.gpu, each.gpu);
        for (class, bytes) in &unit.need.volumes {
            add(storage.entry(class.clone()).or_default(), *bytes);
        }
    }
    (amounts, storage)
}
