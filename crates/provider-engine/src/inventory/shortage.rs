//! Why there is no room, with the numbers that mattered.

use std::fmt;

use akash_types::CpuArch;

use super::cards::KindSet;
use super::free::{ClassSet, Free, NodeFree};
use super::{Need, UnitNeed};
use crate::cluster::view::{Amounts, CardChoice, Name};

/// Why a group does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// Not all replicas of a unit have a place.
    #[error("{0}")]
    Unit(Box<Shortage>),
    /// Addresses are asked for, and nobody hands any out.
    #[error("{wanted} leased addresses are asked for, and this cluster leases none")]
    NoIpPool {
        /// How many are asked for.
        wanted: u64,
    },
    #[error("{wanted} leased addresses are asked for, {free} are left")]
    Ips {
        /// How many are asked for.
        wanted: u64,
        /// How many are left.
        free: i64,
    },
    #[error("{wanted} ports on nodes are asked for, {free} are left")]
    Ports {
        /// How many are asked for.
        wanted: u64,
        /// How many are left.
        free: i64,
    },
}

/// What replicas of a unit do not have a place for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// Number of the unit.
    pub unit: u32,
    /// How many replicas are asked for.
    pub wanted: u32,
    /// For how many there is a place.
    pub fitted: u32,
    pub scarce: Scarce,
    /// How much of it one replica needs.
    pub need: i64,
    /// How much of it those that fit leave in one place: on the node with most, or in the storage
    /// class.
    pub largest: i64,
}

/// What can be scarce.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scarce {
    /// Nodes that take pods: there are none.
    Nodes,
    /// Nodes of this architecture that take pods: there are none.
    Arch(CpuArch),
    /// CPU, in thousandths.
    Cpu,
    /// Memory, in bytes.
    Memory,
    /// Storage that lives with the pod, in bytes.
    Ephemeral,
    /// Cards of a kind that is acceptable.
    Cards,
    /// Persistent storage of this class, in bytes.
    Storage(Name),
}

impl fmt::Display for Scarce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes => f.write_str("nodes that take pods"),
            Self::Arch(arch) => write!(f, "{arch} nodes that take pods"),
            Self::Cpu => f.write_str("CPU (milli)"),
            Self::Memory => f.write_str("memory (bytes)"),
            Self::Ephemeral => f.write_str("ephemeral storage (bytes)"),
            Self::Cards => f.write_str("acceptable GPU cards"),
            Self::Storage(class) => write!(f, "persistent storage of class {class} (bytes)"),
        }
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { unit, wanted, fitted, scarce, need, largest } = self;
        write!(f, "resource unit {unit}: {fitted} of {wanted} replicas fit; short of {scarce}")?;
        match scarce {
            Scarce::Nodes | Scarce::Arch(_) => Ok(()),
            Scarce::Storage(_) => write!(f, ": each needs {need}, {largest} are left"),
            _ => write!(f, ": each needs {need}, the node with most has {largest} left"),
        }
    }
}

/// The shortage of `unit`, of which `fitted` replicas have a place, with cards of the kind `card`:
/// what keeps the next one from `free`, which is what they leave.
pub(super) fn shortage(
    free: &Free,
    unit: &UnitNeed,
    fitted: u32,
    card: Option<&CardChoice>,
) -> NoRoom {
    let each = unit.need.on_node(&free.disk_classes);
    let arch = unit.need.arch;
    let nodes = || free.nodes.iter().filter(|node| node.schedulable && node.arch.runs(arch));
    let mut tightest = Tightest::default();
    if nodes().next().is_none() {
        let any = free.nodes.iter().any(|node| node.schedulable);
        tightest.see(
            0,
            if any { Scarce::Arch(arch.unwrap_or_default()) } else { Scarce::Nodes },
            0,
            0,
        );
    }
    let mut see = |scarce, field: fn(&Amounts) -> i64| {
        let need = field(&each);
        if need > 0 {
            tightest.sum(scarce, need, nodes().map(|node| field(&node.free)));
        }
    };
    see(Scarce::Cpu, |amounts| amounts.cpu_milli);
    see(Scarce::Memory, |amounts| amounts.memory);
    see(Scarce::Ephemeral, |amounts| amounts.ephemeral);
    if each.gpu > 0 {
        let (need, on_nodes) = (each.gpu, best_cards(free, unit, card));
        tightest.sum(Scarce::Cards, need, on_nodes.into_iter());
    }
    see_classes(free, &unit.need, nodes, &mut tightest);
    let (_, scarce, need, largest) = tightest.0.unwrap_or((0, Scarce::Nodes, 0, 0));
    let (unit, wanted) = (unit.id, unit.count);
    NoRoom::Unit(Box::new(Shortage { unit, wanted, fitted, scarce, need, largest }))
}

/// Cards that are left on each node, of the acceptable kind with most replicas' worth.
fn best_cards(free: &Free, unit: &UnitNeed, card: Option<&CardChoice>) -> Vec<i64> {
    let left = |kinds: KindSet| {
        let on_node = |cards: &super::cards::NodeCards| {
            let suits = |node: &&NodeFree| node.schedulable && node.arch.runs(unit.need.arch);
            let node = free.nodes.get(cards.node).filter(suits);
            node.map_or(0, |node| cards.free(kinds).min(node.free.gpu))
        };
        free.cards.iter().map(on_node).collect::<Vec<_>>()
    };
    if let Some(card) = card {
        return left(free.kinds.matching(card));
    }
    let promises = free.kinds.promises(&unit.cards);
    let kinds = promises.iter().map(|choice| left(free.kinds.matching(choice)));
    kinds
        .max_by_key(|left| left.iter().map(|cards| cards / unit.need.asks.gpu.max(1)).sum::<i64>())
        .unwrap_or_default()
}

fn see_classes<'a, I: Iterator<Item = &'a NodeFree>>(
    free: &Free,
    need: &Need,
    nodes: impl Fn() -> I,
    tightest: &mut Tightest,
) {
    for (class, each) in &need.volumes {
        let index = free.class(class);
        let set = index.and_then(ClassSet::one);
        let attached = set.is_some_and(|set| nodes().any(|node| node.classes.contains(set)));
        if attached && free.disk_classes.contains(class) {
            // Counted as ephemeral storage of the nodes.
            continue;
        }
        let left = index.and_then(|index| free.classes.get(index)).map_or(0, |(_, left)| *left);
        let left = if attached { left } else { 0 };
        tightest.see(left.max(0) / (*each).max(1), Scarce::Storage(class.clone()), *each, left);
    }
}

/// For how many replicas the tightest resource would do, which it is, need and largest.
#[derive(Default)]
struct Tightest(Option<(i64, Scarce, i64, i64)>);

impl Tightest {
    fn see(&mut self, replicas: i64, scarce: Scarce, need: i64, largest: i64) {
        if self.0.as_ref().is_none_or(|(least, ..)| replicas < *least) {
            self.0 = Some((replicas, scarce, need, largest));
        }
    }

    fn sum(&mut self, scarce: Scarce, need: i64, left: impl Iterator<Item = i64>) {
        let (mut replicas, mut largest) = (0_i64, None::<i64>);
        for left in left {
            replicas = replicas.saturating_add(left.max(0) / need.max(1));
            largest = Some(largest.map_or(left, |largest| largest.max(left)));
        }
        self.see(replicas, scarce, need, largest.unwrap_or_default());
    }
}
