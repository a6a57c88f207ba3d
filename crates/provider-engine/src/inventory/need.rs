//! What a group needs of a cluster, in request units.

use std::collections::BTreeSet;

use akash_types::{
    CpuArch, Endpoint, EndpointKind, GpuKeyError, GpuRequest, GroupSpec, ResourceUnit, Resources,
    Storage, UnknownArch,
};

use super::CommitLevels;
use crate::cluster::view::{Amounts, Name};

/// What one replica needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// What its pod asks for.
    pub asks: Amounts,
    /// Memory behind its volumes of class `ram`, which the pod uses and does not ask for.
    pub ram: i64,
    /// Bytes of persistent storage by class, in full: volumes are never oversold.
    pub volumes: Box<[(Name, i64)]>,
    /// Architecture that the order names; `None` is amd64 too.
    pub arch: Option<CpuArch>,
}

impl Need {
    fn of(unit: u32, resources: &Resources, levels: &CommitLevels) -> Result<Self, Unplaceable> {
        let arch =
            resources.cpu.named_arch().map_err(|source| Unplaceable::Arch { unit, source })?;
        let mut need = Self {
            asks: Amounts {
                cpu_milli: signed(levels.cpu.request(resources.cpu.units)),
                memory: signed(levels.memory.request(resources.memory.quantity)),
                ephemeral: 0,
                gpu: signed(resources.gpu.units),
            },
            ram: 0,
            volumes: Box::default(),
            arch,
        };
        let mut volumes = Vec::<(Name, i64)>::new();
        for (index, volume) in resources.storage.iter().enumerate() {
            if volume.is_ram() {
                // It is memory, so it is oversold like memory.
                add(&mut need.ram, levels.memory.request(volume.quantity));
            } else if !volume.is_persistent() {
                add(&mut need.asks.ephemeral, levels.storage.request(volume.quantity));
            } else {
                let class = volume
                    .class()
                    .filter(|class| *class != Storage::RAM_CLASS)
                    .ok_or(Unplaceable::VolumeClass { unit, volume: index })?;
                match volumes.iter_mut().find(|(known, _)| **known == *class) {
                    Some((_, bytes)) => add(bytes, volume.quantity),
                    None => volumes.push((class.into(), signed(volume.quantity))),
                }
            }
        }
        need.volumes = volumes.into();
        Ok(need)
    }

    /// What it takes of a node: what its pod asks for, its `ram` volumes, and its volumes of
    /// `disk_classes`, whose bytes are the node's ephemeral storage.
    pub fn on_node(&self, disk_classes: &[Name]) -> Amounts {
        let on_disk = self.volumes.iter().filter(|(class, _)| disk_classes.contains(class));
        let ephemeral =
            on_disk.fold(self.asks.ephemeral, |sum, (_, bytes)| sum.saturating_add(*bytes));
        Amounts { memory: self.asks.memory.saturating_add(self.ram), ephemeral, ..self.asks }
    }
}

/// What the replicas of one resource unit need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitNeed {
    /// The unit's number in its group.
    pub id: u32,
    pub count: u32,
    pub need: Need,
    /// Cards that are acceptable, if it needs any; empty means any card.
    pub cards: Vec<GpuRequest>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupNeed {
    /// Its units, in the order of the group.
    pub units: Vec<UnitNeed>,
    pub ips: u64,
    pub ports: u64,
}

impl GroupNeed {
    /// What `group` needs at these levels.
    /// Fails when it asks for something that no cluster can have.
    pub fn of(group: &GroupSpec, levels: &CommitLevels) -> Result<Self, Unplaceable> {
        let unit = |spec: &ResourceUnit| {
            let resources = &spec.resources;
            let id = resources.id;
            if let Some(group) = resources.gpu.interconnect_group() {
                return Err(Unplaceable::Interconnect { unit: id, group: group.to_owned() });
            }
            let cards = if resources.gpu.units == 0 {
                Vec::new()
            } else {
                let requests = resources.gpu.requests();
                requests.map_err(|source| Unplaceable::Card { unit: id, source })?
            };
            let need = Need::of(id, resources, levels)?;
            Ok(UnitNeed { id, count: spec.count, need, cards })
        };
        let units = group.resources.iter().map(unit).collect::<Result<_, _>>()?;
        let endpoints = || group.resources.iter().flat_map(|unit| &unit.resources.endpoints);
        let ports = endpoints().filter(|end| end.kind == EndpointKind::RandomPort).count() as u64;
        Ok(Self { units, ips: leased_ips(endpoints()), ports })
    }
}

/// How many addresses these endpoints lease: those with the same number share one.
pub fn leased_ips<'a>(endpoints: impl IntoIterator<Item = &'a Endpoint>) -> u64 {
    let leased = endpoints.into_iter().filter(|end| end.kind == EndpointKind::LeasedIp);
    leased.map(|end| end.sequence_number).collect::<BTreeSet<_>>().len() as u64
}

/// Why a group fits no cluster, whatever is free.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unplaceable {
    /// A card is described in a way that matches none.
    #[error("resource unit {unit} asks for a card that nobody can have: {source}")]
    Card {
        /// Number of the unit.
        unit: u32,
        /// What is wrong with the description.
        source: GpuKeyError,
    },
    /// Cards of several nodes are to form one fabric.
    #[error(
        "resource unit {unit} asks for a GPU interconnect (group {group:?}), which this provider \
         does not offer"
    )]
    Interconnect {
        /// Number of the unit.
        unit: u32,
        /// Name of the group of peers.
        group: String,
    },
    /// The architecture that is asked for is not known.
    #[error("resource unit {unit}: {source}")]
    Arch {
        /// Number of the unit.
        unit: u32,
        source: UnknownArch,
    },
    /// A persistent volume has no class, or one that does not persist.
    #[error(
        "volume {volume} of resource unit {unit} is persistent and must name a storage class other than ram"
    )]
    VolumeClass {
        /// Number of the unit.
        unit: u32,
        /// Index of the volume.
        volume: usize,
    },
}

/// Amounts beyond 2^63 are more than any node has, and stay so.
fn signed(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

fn add(sum: &mut i64, amount: u64) {
    *sum = sum.saturating_add(signed(amount));
}
