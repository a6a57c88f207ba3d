//! What the chain accepts as the groups of a deployment.
//!
//! The same rules hold when a tenant writes an SDL, when the chain checks the message, and when a
//! provider decides on a bid. Here all violations are reported, not only the first. Rules of the
//! bid engine (how many volumes, say) are not here.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use crate::attribute::{self, Attribute, AttributeError};
use crate::{DecCoin, Denom, GroupSpec, ResourceUnit};

const MIB: u64 = 1 << 20;
const TIB: u64 = 1 << 40;

/// Thousandths of a core that one replica may ask for.
pub const UNIT_CPU: RangeInclusive<u64> = 10..=384_000;
/// GPUs that one replica may ask for.
pub const UNIT_GPU: RangeInclusive<u64> = 0..=24;
/// Bytes of memory that one replica may ask for: 1 MiB to 2 TiB.
pub const UNIT_MEMORY: RangeInclusive<u64> = MIB..=2 * TIB;
/// Bytes that one volume may ask for: 5 MiB to 32 TiB.
pub const VOLUME: RangeInclusive<u64> = 5 * MIB..=32 * TIB;
/// Highest price of one replica, in whole coins of any denomination.
pub const MAX_UNIT_PRICE: u64 = 10_000_000;
/// Thousandths of a core that all replicas of a group may ask for: 50 times the largest unit.
pub const GROUP_CPU: RangeInclusive<u128> = 1..=19_200_000;
/// GPUs that all replicas of a group may ask for: 50 times the largest unit.
pub const GROUP_GPU: RangeInclusive<u128> = 0..=1_200;
/// Bytes of memory that all replicas of a group may ask for: 50 times the largest unit.
pub const GROUP_MEMORY: RangeInclusive<u128> = 1..=100 * (1 << 40);

/// Checks the groups of a deployment; empty means that the chain accepts them.
///
/// In order of groups; in each group first its name, then its units, then its totals and how it
/// relates to the groups before it.
pub fn validate_groups(groups: &[GroupSpec]) -> Vec<GroupViolation> {
    let mut found = Vec::new();
    if groups.is_empty() {
        found.push(GroupViolation {
            group: 0,
            unit: None,
            field: GroupField::Groups,
            problem: GroupProblem::Empty,
        });
    }
    let mut names = BTreeMap::new();
    let mut first_denom: Option<&Denom> = None;
    for (group, spec) in groups.iter().enumerate() {
        found.extend(validate_group(group, spec));
        let mut report = |field, problem| {
            found.push(GroupViolation { group, unit: None, field, problem });
        };
        if let Some(first) = names.insert(spec.name.as_str(), group) {
            names.insert(spec.name.as_str(), first);
            report(GroupField::Name, GroupProblem::Duplicate { value: spec.name.clone(), first });
        }
        if let Some(denom) = spec.resources.first().map(|unit| unit.price.denom()) {
            let expected = *first_denom.get_or_insert(denom);
            if denom != expected {
                report(GroupField::Denom, GroupProblem::mixed(denom, expected));
            }
        }
    }
    found
}

/// Checks one group by itself, as the bid engine does; `group` is the index to report.
pub fn validate_group(group: usize, spec: &GroupSpec) -> Vec<GroupViolation> {
    let mut found = Vec::new();
    let mut report = |unit, field, problem| {
        found.push(GroupViolation { group, unit, field, problem });
    };
    if spec.name.is_empty() {
        report(None, GroupField::Name, GroupProblem::Empty);
    }
    let first_denom = spec.resources.first().map(|unit| unit.price.denom());
    let mut ids = BTreeMap::new();
    for (index, unit) in spec.resources.iter().enumerate() {
        let mut report = |field, problem| report(Some(index), field, problem);
        let id = unit.resources.id;
        if id == 0 {
            report(GroupField::Id, GroupProblem::Zero);
        } else if let Some(first) = ids.insert(id, index) {
            ids.insert(id, first);
            report(GroupField::Id, GroupProblem::Duplicate { value: id.to_string(), first });
        }
        validate_unit(unit, &mut report);
        if let Some(expected) = first_denom.filter(|expected| *expected != unit.price.denom()) {
            report(GroupField::Denom, GroupProblem::mixed(unit.price.denom(), expected));
        }
    }
    validate_totals(spec, |field, problem| report(None, field, problem));
    found
}

fn validate_unit(unit: &ResourceUnit, report: &mut impl FnMut(GroupField, GroupProblem)) {
    let resources = &unit.resources;
    let (cpu, gpu, memory) = (&resources.cpu, &resources.gpu, &resources.memory);

    check_amount(GroupField::Cpu, cpu.units, UNIT_CPU, report);
    check_attributes(GroupField::Cpu, &cpu.attributes, report);
    check_amount(GroupField::Gpu, gpu.units, UNIT_GPU, report);
    if gpu.units == 0 && !gpu.attributes.is_empty() {
        report(GroupField::Gpu, GroupProblem::AttributesWithoutUnits);
    }
    check_attributes(GroupField::Gpu, &gpu.attributes, report);
    check_amount(GroupField::Memory, memory.quantity, UNIT_MEMORY, report);
    check_attributes(GroupField::Memory, &memory.attributes, report);
    if resources.storage.is_empty() {
        // An empty list and no list are the same on the wire, and the chain wants one.
        report(GroupField::StorageList, GroupProblem::Empty);
    }
    for (index, volume) in resources.storage.iter().enumerate() {
        check_amount(GroupField::Storage(index), volume.quantity, VOLUME, report);
        check_attributes(GroupField::Storage(index), &volume.attributes, report);
    }
    if unit.price.amount() > MAX_UNIT_PRICE.into() {
        report(GroupField::Price, GroupProblem::PriceTooHigh { price: unit.price.clone() });
    }
}

/// The limits on totals are also what refuses a group in which nothing runs.
fn validate_totals(spec: &GroupSpec, mut report: impl FnMut(GroupField, GroupProblem)) {
    if spec.resources.is_empty() {
        return report(GroupField::Resources, GroupProblem::Empty);
    }
    if spec.resources.iter().all(|unit| unit.count == 0) {
        return report(GroupField::Count, GroupProblem::Zero);
    }
    // Each term is under 2^96, so no list that fits in memory can overflow the sum.
    let total = |amount: fn(&ResourceUnit) -> u64| -> u128 {
        spec.resources.iter().map(|unit| u128::from(amount(unit)) * u128::from(unit.count)).sum()
    };
    for (field, total, allowed) in [
        (GroupField::TotalCpu, total(|unit| unit.resources.cpu.units), GROUP_CPU),
        (GroupField::TotalGpu, total(|unit| unit.resources.gpu.units), GROUP_GPU),
        (GroupField::TotalMemory, total(|unit| unit.resources.memory.quantity), GROUP_MEMORY),
    ] {
        if !allowed.contains(&total) {
            let (min, max) = allowed.into_inner();
            report(field, GroupProblem::OutOfRange { value: total, min, max });
        }
    }
}

fn check_amount(
    field: GroupField,
    value: u64,
    allowed: RangeInclusive<u64>,
    report: &mut impl FnMut(GroupField, GroupProblem),
) {
    if !allowed.contains(&value) {
        let (min, max) = allowed.into_inner();
        let (value, min, max) = (value.into(), min.into(), max.into());
        report(field, GroupProblem::OutOfRange { value, min, max });
    }
}

fn check_attributes(
    field: GroupField,
    attributes: &[Attribute],
    report: &mut impl FnMut(GroupField, GroupProblem),
) {
    if let Err(error) = attribute::validate(attributes) {
        report(field, GroupProblem::Attribute(error));
    }
}

/// One thing for which the chain refuses the groups of a deployment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct GroupViolation {
    /// Index of the group.
    pub group: usize,
    /// Index of the resource unit in the group, where one is at fault.
    pub unit: Option<usize>,
    /// What is at fault.
    pub field: GroupField,
    /// What is wrong with it.
    pub problem: GroupProblem,
}

impl fmt::Display for GroupViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { group, unit, field, problem } = self;
        match (unit, field) {
            (_, GroupField::Groups) => write!(f, "{field} {problem}"),
            (None, _) => write!(f, "group {group}: {field} {problem}"),
            (Some(unit), _) => write!(f, "group {group}, resource unit {unit}: {field} {problem}"),
        }
    }
}

/// What in a group is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, derive_more::Display)]
pub enum GroupField {
    /// The list of groups.
    #[display("list of groups")]
    Groups,
    /// Name of the group.
    #[display("name")]
    Name,
    /// The list of resource units.
    #[display("list of resource units")]
    Resources,
    /// Number of the resources.
    #[display("resources id")]
    Id,
    /// CPU of a unit, in thousandths of a core.
    #[display("CPU (milli)")]
    Cpu,
    /// GPUs of a unit.
    #[display("GPU")]
    Gpu,
    /// Memory of a unit, in bytes.
    #[display("memory (bytes)")]
    Memory,
    /// The list of volumes of a unit.
    #[display("list of volumes")]
    StorageList,
    /// The volume with this index, in bytes.
    #[display("volume {_0} (bytes)")]
    Storage(usize),
    /// Price of a unit.
    #[display("price")]
    Price,
    /// How many replicas there are.
    #[display("count of every resource unit")]
    Count,
    /// Denomination of the price.
    #[display("price denomination")]
    Denom,
    /// CPU of all replicas, in thousandths of a core.
    #[display("total CPU (milli)")]
    TotalCpu,
    /// GPUs of all replicas.
    #[display("total GPU")]
    TotalGpu,
    /// Memory of all replicas, in bytes.
    #[display("total memory (bytes)")]
    TotalMemory,
}

/// What is wrong with a part of a group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupProblem {
    /// Must not be empty.
    #[error("must not be empty")]
    Empty,
    /// Must not be zero.
    #[error("is 0, expected 1 or more")]
    Zero,
    /// Must be unique.
    #[error("{value:?} is already used at index {first}, expected each to be used once")]
    Duplicate {
        /// What occurs twice.
        value: String,
        /// Index of its first use.
        first: usize,
    },
    /// An amount is too small or too large.
    #[error("is {value}, expected {min} to {max}")]
    OutOfRange {
        /// The amount.
        value: u128,
        /// The smallest allowed.
        min: u128,
        /// The largest allowed.
        max: u128,
    },
    /// The attributes are malformed.
    #[error("has malformed attributes: {0}")]
    Attribute(AttributeError),
    /// A GPU is described but not asked for.
    #[error("has attributes but 0 units, expected attributes only where units are asked for")]
    AttributesWithoutUnits,
    /// The price is above the limit.
    #[error("{price} is too high, expected at most {MAX_UNIT_PRICE}")]
    PriceTooHigh {
        /// The price.
        price: DecCoin,
    },
    /// The denomination differs from that of the first unit or group.
    #[error("{found} differs from {expected}, expected one denomination for all")]
    MixedDenoms {
        /// The denomination at fault.
        found: Denom,
        /// The first one.
        expected: Denom,
    },
}

impl GroupProblem {
    fn mixed(found: &Denom, expected: &Denom) -> Self {
        Self::MixedDenoms { found: found.clone(), expected: expected.clone() }
    }
}

#[cfg(test)]
mod tests;
