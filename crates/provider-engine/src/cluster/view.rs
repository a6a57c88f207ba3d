//! What runs where, as an observer last saw it.
//!
//! All amounts are in request units: what a pod asks the scheduler for, after overcommit. They are
//! signed, because what others ask for can exceed what a node has, and a view must be able to say
//! so; nothing is clamped before it is shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use akash_sdl::Version;
use akash_sdl::manifest::Group;
use akash_types::{CpuArch, GpuInterface, GpuVendor, LeaseId};

use super::recognition::ClusterUid;

/// Name of a node or of a storage class; many things refer to the same few.
pub type Name = Arc<str>;

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterView {
    /// Which cluster it is; `None` if that cannot be told.
    pub uid: Option<ClusterUid>,
    /// Nodes by name.
    pub nodes: BTreeMap<Name, Node>,
    /// Persistent storage by class.
    pub storage: BTreeMap<Name, StorageClass>,
    /// Addresses that can be leased; `None` if nobody hands any out.
    pub ips: Option<IpPool>,
    /// Ports that can be opened on nodes; `None` if the driver sets no limit.
    pub ports: Option<PortPool>,
    /// What is there of leases.
    pub leases: BTreeMap<LeaseId, LeaseView>,
    /// Whether the operator put the provider into maintenance, which the cluster holds.
    pub maintenance: bool,
}

/// What changed since the view before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewChange {
    /// Everything was read anew, completely.
    Whole(Box<ClusterView>),
    /// A node came or changed.
    Node(Name, Node),
    /// A node is positively gone.
    NodeGone(Name),
    /// A storage class came or changed.
    Storage(Name, StorageClass),
    /// A storage class is positively gone.
    StorageGone(Name),
    /// The pool of addresses changed.
    Ips(Option<IpPool>),
    /// The ports that can be opened on nodes changed.
    Ports(Option<PortPool>),
    /// What is there of a lease came or changed.
    Lease(Box<LeaseView>),
    /// Nothing of a lease is there any more.
    LeaseGone(LeaseId),
    /// Maintenance was switched.
    Maintenance(bool),
    /// The cluster does not answer: what was seen is history, and nothing follows from it.
    Lost,
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Why no new pods may be put on it; empty if they may. What runs on it counts in any case.
    pub exclusions: Vec<Exclusion>,
    /// What pods can ask for in all.
    pub allocatable: Amounts,
    /// What pods that are not of leases ask for.
    pub others: Amounts,
    /// Its cards, of which `allocatable.gpu` are usable.
    pub cards: Vec<GpuCard>,
    /// Devices that it offers and no lease can ask for, such as MIG slices, by resource name.
    pub unsold_devices: BTreeMap<Name, i64>,
    /// Classes of persistent storage that can be attached to it.
    pub storage_classes: Vec<Name>,
    /// Architecture of its processors.
    pub arch: NodeArch,
}

impl Node {
    /// Whether new pods may be put on it.
    pub fn schedulable(&self) -> bool {
        self.exclusions.is_empty()
    }
}

/// Why no new pods of leases may be put on a node.
#[derive(Clone, Debug, PartialEq, Eq, derive_more::Display)]
pub enum Exclusion {
    /// The operator did not give it to the provider.
    #[display("label {_0} is not \"true\"")]
    Unmanaged(Name),
    /// Its agent does not report it as ready.
    #[display("not ready: {_0}")]
    NotReady(Name),
    /// Its operator keeps new pods away.
    #[display("cordoned")]
    Cordoned,
    /// A taint, which pods of leases do not tolerate.
    #[display("taint {_0}")]
    Tainted(Name),
}

/// Architecture of a node's processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeArch {
    /// One that orders can ask for.
    Known(CpuArch),
    /// Another one: no order is placed on such a node.
    Other,
    /// The node reports none: it serves orders that name none.
    #[default]
    Unreported,
}

impl NodeArch {
    /// The architecture that a node reports.
    pub fn reported(text: Option<&str>) -> Self {
        match text.filter(|text| !text.is_empty()) {
            None => Self::Unreported,
            Some(text) => text.parse().map_or(Self::Other, Self::Known),
        }
    }

    /// The architecture, if orders can ask for it.
    pub const fn known(self) -> Option<CpuArch> {
        match self {
            Self::Known(arch) => Some(arch),
            Self::Other | Self::Unreported => None,
        }
    }

    /// Whether a replica runs on it whose order names `arch`. One that names none is for amd64.
    pub fn runs(self, arch: Option<CpuArch>) -> bool {
        match self {
            Self::Known(own) => own == arch.unwrap_or_default(),
            Self::Other => false,
            Self::Unreported => arch.is_none(),
        }
    }
}

/// Amounts of what a node has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// CPU, in thousandths.
    pub cpu_milli: i64,
    /// Memory, in bytes.
    pub memory: i64,
    /// Storage that lives with the pod, in bytes.
    pub ephemeral: i64,
    /// Cards.
    pub gpu: i64,
}

/// A graphics card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuCard {
    /// Who made it.
    pub vendor: GpuVendor,
    /// Model, as in attribute keys, such as `a100`.
    pub model: Name,
    /// Memory in GiB; `None` if the node does not say.
    pub memory_gib: Option<u64>,
    /// How it is attached; `None` if the node does not say.
    pub interface: Option<GpuInterface>,
    /// Whether leases can have it.
    pub state: CardState,
}

/// Whether leases can have a card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CardState {
    /// A lease has it, or can.
    #[default]
    Usable,
    /// A pod that is not of a lease has it.
    TakenByOthers,
    /// It is not sold, and why. A lease that has it keeps it.
    Unusable(Name),
}

/// Persistent storage of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorageClass {
    /// What volumes can have in all, in bytes.
    pub allocatable: i64,
    /// What volumes that are not of leases have.
    pub others: i64,
    /// Where its volumes take their bytes from.
    pub place: StoragePlace,
    /// Disks that it has in common with other classes, if it does.
    pub disks: Option<SharedDisks>,
    /// Why it is not sold; `None` if it is.
    pub unsold: Option<Name>,
}

/// Disks that several classes take from: what one of them gives away, the others do not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedDisks {
    /// Equal for classes on the same disks.
    pub group: Name,
    /// Bytes on disk for `stored` bytes of a volume: 3 for 1 where three copies are kept.
    pub raw: u32,
    /// See `raw`.
    pub stored: u32,
}

impl SharedDisks {
    /// How many bytes `other` has less if a volume takes `bytes` here; 0 on other disks.
    pub fn bytes_for(&self, bytes: i64, other: &Self) -> i64 {
        if self.group != other.group {
            return 0;
        }
        let taken = i128::from(bytes) * i128::from(self.raw) * i128::from(other.stored);
        let per = (i128::from(self.stored) * i128::from(other.raw)).max(1);
        i64::try_from((taken + per - 1) / per).unwrap_or(i64::MAX)
    }
}

/// Where volumes of a class take their bytes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoragePlace {
    /// From a store that all nodes share which name the class.
    #[default]
    Shared,
    /// From the ephemeral storage of the node that their replica is on.
    NodeDisk,
}

/// Addresses that can be leased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IpPool {
    /// How many there are.
    pub total: u64,
    /// How many are in use by what is not a lease.
    pub others: u64,
}

/// Ports that can be opened on nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortPool {
    /// How many the cluster has.
    pub total: u64,
    /// How many are in use by what is not a lease.
    pub others: u64,
}

/// What is there of a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseView {
    /// Which.
    pub id: LeaseId,
    /// The manifest that the cluster keeps for it, if it does.
    pub held: Option<Held>,
    /// Its pods.
    pub replicas: Vec<Replica>,
    /// Bytes of persistent storage by class, as its volumes have them.
    pub volumes: BTreeMap<Name, i64>,
    /// Hostnames that lead to it.
    pub hostnames: Vec<String>,
    /// How many addresses it has.
    pub ips: u64,
    /// How many ports of nodes lead to it.
    pub ports: u64,
    /// Whether it is on its way out.
    pub terminating: bool,
    /// What keeps it from going, in words, if something does.
    pub stuck: Option<String>,
}

impl LeaseView {
    /// Nothing yet of lease `id`.
    pub const fn empty(id: LeaseId) -> Self {
        Self {
            id,
            held: None,
            replicas: Vec::new(),
            volumes: BTreeMap::new(),
            hostnames: Vec::new(),
            ips: 0,
            ports: 0,
            terminating: false,
            stuck: None,
        }
    }
}

/// A manifest as the cluster keeps it: one lease is one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Hash of the whole manifest; `None` if whoever wrote it did not say.
    pub version: Option<Version>,
    /// The group's services.
    pub group: Arc<Group>,
    /// Cards that each service was promised, by service name.
    pub cards: BTreeMap<String, CardChoice>,
    /// What it asks for that is not carried out.
    pub ignored: IgnoredOptions,
    /// Whether the workloads were written from it, completely.
    pub deployed: bool,
}

/// Options of HTTP that a manifest has and nobody here knows, by service. They are not carried out,
/// and the tenant is told.
pub type IgnoredOptions = BTreeMap<String, Vec<String>>;

/// The one kind of card that all replicas of a service get.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CardChoice {
    /// Who made it.
    pub vendor: GpuVendor,
    /// Model.
    pub model: Name,
    /// Memory in GiB, if it was asked for.
    pub memory_gib: Option<u64>,
    /// How it is attached, if it was asked for.
    pub interface: Option<GpuInterface>,
}

/// A pod of a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replica {
    /// Which service it is of.
    pub service: String,
    /// Where the scheduler put it; `None` while it has no place.
    pub node: Option<Name>,
    /// What it asks for.
    pub asks: Amounts,
    /// Model of the cards it was pinned to; `None` if it has none.
    pub card: Option<CardChoice>,
    /// How it is.
    pub condition: Condition,
    /// How often its container was started again.
    pub restarts: u32,
}

/// How a pod is. Whoever cannot ask says [`ViewChange::Lost`], not that a pod is bad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It does its work.
    Ready,
    /// It is on its way: image, volume, first start.
    Starting,
    /// No node has room or the right hardware for it.
    Unschedulable(String),
    /// It fails, and why.
    Failing(String),
    /// It was told to end.
    Ending,
}
