//! What is seen of a cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use akash_types::{CpuArch, LeaseId};
use provider_engine::cluster::view::{
    CardChoice, CardState, ClusterView, Condition, Exclusion, GpuCard, Held, IgnoredOptions,
    IpPool, LeaseView, Name, Node, NodeArch, PortPool, Replica, StorageClass, ViewChange,
};
use serde::{Deserialize, Serialize};

use super::nouns::{
    AmountsWire, CardWire, LeaseIdWire, Unreadable, cards, group_from_json, group_to_json, version,
};

/// A change, a line each. A whole view is many: its beginning, every lease, its end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum ChangeWire {
    Begin(Box<ClusterWire>),
    End,
    Node(Name, NodeWire),
    NodeGone(Name),
    Storage(Name, (i64, i64)),
    StorageGone(Name),
    Ips(Option<(u64, u64)>),
    Ports(Option<(u64, u64)>),
    Lease(Box<LeaseWire>),
    LeaseGone(LeaseIdWire),
    Maintenance(bool),
    Lost,
}

/// A whole view but for its leases.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ClusterWire {
    #[serde(default)]
    uid: Option<String>,
    nodes: BTreeMap<Name, NodeWire>,
    storage: BTreeMap<Name, (i64, i64)>,
    ips: Option<(u64, u64)>,
    ports: Option<(u64, u64)>,
    maintenance: bool,
}

pub(crate) fn lines(change: &ViewChange) -> Vec<ChangeWire> {
    let line = match change {
        ViewChange::Whole(view) => {
            let leases = view.leases.values().map(|lease| ChangeWire::Lease(lease_line(lease)));
            let begin = ChangeWire::Begin(Box::new(ClusterWire::from(&**view)));
            return std::iter::once(begin).chain(leases).chain([ChangeWire::End]).collect();
        }
        ViewChange::Node(name, node) => ChangeWire::Node(name.clone(), node.into()),
        ViewChange::NodeGone(name) => ChangeWire::NodeGone(name.clone()),
        ViewChange::Storage(name, class) => {
            ChangeWire::Storage(name.clone(), (class.allocatable, class.others))
        }
        ViewChange::StorageGone(name) => ChangeWire::StorageGone(name.clone()),
        ViewChange::Ips(pool) => ChangeWire::Ips(pool.map(|pool| (pool.total, pool.others))),
        ViewChange::Ports(pool) => ChangeWire::Ports(pool.map(|pool| (pool.total, pool.others))),
        ViewChange::Lease(lease) => ChangeWire::Lease(lease_line(lease)),
        ViewChange::LeaseGone(id) => ChangeWire::LeaseGone(id.into()),
        ViewChange::Maintenance(on) => ChangeWire::Maintenance(*on),
        ViewChange::Lost => ChangeWire::Lost,
    };
    vec![line]
}

fn lease_line(lease: &LeaseView) -> Box<LeaseWire> {
    Box::new(LeaseWire::from(lease))
}

/// Puts changes together again from their lines.
#[derive(Debug, Default)]
pub(crate) struct Assembly(Option<Box<ClusterView>>);

impl Assembly {
    /// Takes a line; the change that it completes, if it does.
    pub(crate) fn take(&mut self, line: ChangeWire) -> Result<Option<ViewChange>, Unreadable> {
        Ok(Some(match (line, &mut self.0) {
            (ChangeWire::Begin(cluster), whole) => {
                *whole = Some(Box::new((*cluster).try_into()?));
                return Ok(None);
            }
            (ChangeWire::Lease(lease), Some(whole)) => {
                let lease: LeaseView = (*lease).try_into()?;
                whole.leases.insert(lease.id, lease);
                return Ok(None);
            }
            (ChangeWire::End, whole) => return Ok(whole.take().map(ViewChange::Whole)),
            (ChangeWire::Node(name, node), _) => ViewChange::Node(name, node.try_into()?),
            (ChangeWire::NodeGone(name), _) => ViewChange::NodeGone(name),
            (ChangeWire::Storage(name, (allocatable, others)), _) => ViewChange::Storage(
                name,
                StorageClass { allocatable, others, ..StorageClass::default() },
            ),
            (ChangeWire::StorageGone(name), _) => ViewChange::StorageGone(name),
            (ChangeWire::Ips(pool), _) => ViewChange::Ips(pool.map(ip_pool)),
            (ChangeWire::Ports(pool), _) => ViewChange::Ports(pool.map(port_pool)),
            (ChangeWire::Lease(lease), None) => ViewChange::Lease(Box::new((*lease).try_into()?)),
            (ChangeWire::LeaseGone(id), _) => ViewChange::LeaseGone(id.try_into()?),
            (ChangeWire::Maintenance(on), _) => ViewChange::Maintenance(on),
            (ChangeWire::Lost, _) => ViewChange::Lost,
        }))
    }
}

const fn ip_pool((total, others): (u64, u64)) -> IpPool {
    IpPool { total, others }
}

const fn port_pool((total, others): (u64, u64)) -> PortPool {
    PortPool { total, others }
}

impl From<&ClusterView> for ClusterWire {
    fn from(view: &ClusterView) -> Self {
        let class = |(name, class): (&Name, &StorageClass)| {
            (name.clone(), (class.allocatable, class.others))
        };
        Self {
            uid: view.uid.as_deref().map(str::to_owned),
            nodes: view.nodes.iter().map(|(name, node)| (name.clone(), node.into())).collect(),
            storage: view.storage.iter().map(class).collect(),
            ips: view.ips.map(|pool| (pool.total, pool.others)),
            ports: view.ports.map(|pool| (pool.total, pool.others)),
            maintenance: view.maintenance,
        }
    }
}

impl TryFrom<ClusterWire> for ClusterView {
    type Error = Unreadable;

    fn try_from(wire: ClusterWire) -> Result<Self, Unreadable> {
        let node = |(name, node): (Name, NodeWire)| Ok((name, node.try_into()?));
        let class = |(name, (allocatable, others))| {
            (name, StorageClass { allocatable, others, ..StorageClass::default() })
        };
        Ok(Self {
            uid: wire.uid.map(Into::into),
            nodes: wire.nodes.into_iter().map(node).collect::<Result<_, Unreadable>>()?,
            storage: wire.storage.into_iter().map(class).collect(),
            ips: wire.ips.map(ip_pool),
            ports: wire.ports.map(port_pool),
            leases: BTreeMap::new(),
            maintenance: wire.maintenance,
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum ExclusionWire {
    Unmanaged(Name),
    NotReady(Name),
    Cordoned,
    Tainted(Name),
}

impl From<&Exclusion> for ExclusionWire {
    fn from(exclusion: &Exclusion) -> Self {
        match exclusion {
            Exclusion::Unmanaged(label) => Self::Unmanaged(label.clone()),
            Exclusion::NotReady(why) => Self::NotReady(why.clone()),
            Exclusion::Cordoned => Self::Cordoned,
            Exclusion::Tainted(taint) => Self::Tainted(taint.clone()),
        }
    }
}

impl From<ExclusionWire> for Exclusion {
    fn from(wire: ExclusionWire) -> Self {
        match wire {
            ExclusionWire::Unmanaged(label) => Self::Unmanaged(label),
            ExclusionWire::NotReady(why) => Self::NotReady(why),
            ExclusionWire::Cordoned => Self::Cordoned,
            ExclusionWire::Tainted(taint) => Self::Tainted(taint),
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NodeWire {
    exclusions: Vec<ExclusionWire>,
    allocatable: AmountsWire,
    others: AmountsWire,
    cards: Vec<(CardWire, bool)>,
    storage_classes: Vec<Name>,
    #[serde(default)]
    arch: Option<String>,
}

impl From<&Node> for NodeWire {
    fn from(node: &Node) -> Self {
        let card = |card: &GpuCard| {
            let kind = CardChoice {
                vendor: card.vendor,
                model: card.model.clone(),
                memory_gib: card.memory_gib,
                interface: card.interface,
            };
            ((&kind).into(), card.state == CardState::TakenByOthers)
        };
        Self {
            exclusions: node.exclusions.iter().map(ExclusionWire::from).collect(),
            allocatable: (&node.allocatable).into(),
            others: (&node.others).into(),
            cards: node.cards.iter().map(card).collect(),
            storage_classes: node.storage_classes.clone(),
            arch: Some(node.arch.known().map_or("other", CpuArch::as_str).to_owned()),
        }
    }
}

impl TryFrom<NodeWire> for Node {
    type Error = Unreadable;

    fn try_from(wire: NodeWire) -> Result<Self, Unreadable> {
        let card = |(kind, taken_by_others): (CardWire, bool)| {
            let CardChoice { vendor, model, memory_gib, interface } = kind.try_into()?;
            let state = match taken_by_others {
                true => CardState::TakenByOthers,
                false => CardState::Usable,
            };
            Ok(GpuCard { vendor, model, memory_gib, interface, state })
        };
        Ok(Self {
            exclusions: wire.exclusions.into_iter().map(Exclusion::from).collect(),
            allocatable: wire.allocatable.into(),
            others: wire.others.into(),
            cards: wire.cards.into_iter().map(card).collect::<Result<_, Unreadable>>()?,
            storage_classes: wire.storage_classes,
            arch: NodeArch::reported(wire.arch.as_deref()),
            ..Self::default()
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LeaseWire {
    id: LeaseIdWire,
    held: Option<HeldWire>,
    replicas: Vec<ReplicaWire>,
    volumes: BTreeMap<Name, i64>,
    hostnames: Vec<String>,
    ips: u64,
    #[serde(default)]
    ports: u64,
    terminating: bool,
    stuck: Option<String>,
}

impl From<&LeaseView> for LeaseWire {
    fn from(lease: &LeaseView) -> Self {
        Self {
            id: (&lease.id).into(),
            held: lease.held.as_ref().map(HeldWire::from),
            replicas: lease.replicas.iter().map(ReplicaWire::from).collect(),
            volumes: lease.volumes.clone(),
            hostnames: lease.hostnames.clone(),
            ips: lease.ips,
            ports: lease.ports,
            terminating: lease.terminating,
            stuck: lease.stuck.clone(),
        }
    }
}

impl TryFrom<LeaseWire> for LeaseView {
    type Error = Unreadable;

    fn try_from(wire: LeaseWire) -> Result<Self, Unreadable> {
        let replicas = wire.replicas.into_iter().map(Replica::try_from);
        Ok(Self {
            id: LeaseId::try_from(wire.id)?,
            held: wire.held.map(Held::try_from).transpose()?,
            replicas: replicas.collect::<Result<_, Unreadable>>()?,
            volumes: wire.volumes,
            hostnames: wire.hostnames,
            ips: wire.ips,
            ports: wire.ports,
            terminating: wire.terminating,
            stuck: wire.stuck,
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HeldWire {
    version: Option<String>,
    manifest: String,
    cards: BTreeMap<String, CardWire>,
    #[serde(default)]
    ignored: IgnoredOptions,
    deployed: bool,
}

impl From<&Held> for HeldWire {
    fn from(held: &Held) -> Self {
        Self {
            version: held.version.map(|version| version.to_string()),
            manifest: group_to_json(&held.group),
            cards: held.cards.iter().map(|(name, card)| (name.clone(), card.into())).collect(),
            ignored: held.ignored.clone(),
            deployed: held.deployed,
        }
    }
}

impl TryFrom<HeldWire> for Held {
    type Error = Unreadable;

    fn try_from(wire: HeldWire) -> Result<Self, Unreadable> {
        Ok(Self {
            version: wire.version.as_deref().map(version).transpose()?,
            group: Arc::new(group_from_json(&wire.manifest)?),
            cards: cards(wire.cards)?,
            ignored: wire.ignored,
            deployed: wire.deployed,
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReplicaWire {
    service: String,
    node: Option<Name>,
    asks: AmountsWire,
    card: Option<CardWire>,
    #[serde(with = "ConditionWire")]
    condition: Condition,
    restarts: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Condition")]
enum ConditionWire {
    Ready,
    Starting,
    Unschedulable(String),
    Failing(String),
    Ending,
}

impl From<&Replica> for ReplicaWire {
    fn from(replica: &Replica) -> Self {
        Self {
            service: replica.service.clone(),
            node: replica.node.clone(),
            asks: (&replica.asks).into(),
            card: replica.card.as_ref().map(CardWire::from),
            condition: replica.condition.clone(),
            restarts: replica.restarts,
        }
    }
}

impl TryFrom<ReplicaWire> for Replica {
    type Error = Unreadable;

    fn try_from(wire: ReplicaWire) -> Result<Self, Unreadable> {
        Ok(Self {
            service: wire.service,
            node: wire.node,
            asks: wire.asks.into(),
            card: wire.card.map(CardChoice::try_from).transpose()?,
            condition: wire.condition,
            restarts: wire.restarts,
        })
    }
}
