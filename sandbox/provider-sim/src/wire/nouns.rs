//! Ids, amounts, cards and workloads.

use std::collections::BTreeMap;
use std::sync::Arc;

use akash_sdl::Manifest;
use akash_sdl::manifest::Group;
use akash_types::{CpuArch, GpuInterface, GpuVendor, LeaseId};
use provider_engine::cluster::command::Workload;
use provider_engine::cluster::view::{Amounts, CardChoice, IgnoredOptions};
use serde::{Deserialize, Serialize};

/// Why something read is no such noun.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {found:?} cannot be understood: {why}")]
pub(crate) struct Unreadable {
    what: &'static str,
    found: String,
    why: String,
}

pub(crate) fn unreadable(what: &'static str, found: &str, why: impl ToString) -> Unreadable {
    Unreadable { what, found: found.chars().take(80).collect(), why: why.to_string() }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct LeaseIdWire(String);

impl From<&LeaseId> for LeaseIdWire {
    fn from(id: &LeaseId) -> Self {
        Self(id.to_string())
    }
}

impl TryFrom<LeaseIdWire> for LeaseId {
    type Error = Unreadable;

    fn try_from(wire: LeaseIdWire) -> Result<Self, Unreadable> {
        wire.0.parse().map_err(|why| unreadable("lease", &wire.0, why))
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct AmountsWire {
    cpu_milli: i64,
    memory: i64,
    ephemeral: i64,
    gpu: i64,
}

impl From<&Amounts> for AmountsWire {
    fn from(amounts: &Amounts) -> Self {
        let Amounts { cpu_milli, memory, ephemeral, gpu } = *amounts;
        Self { cpu_milli, memory, ephemeral, gpu }
    }
}

impl From<AmountsWire> for Amounts {
    fn from(wire: AmountsWire) -> Self {
        let AmountsWire { cpu_milli, memory, ephemeral, gpu } = wire;
        Self { cpu_milli, memory, ephemeral, gpu }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CardWire {
    vendor: String,
    model: String,
    memory_gib: Option<u64>,
    interface: Option<String>,
}

impl From<&CardChoice> for CardWire {
    fn from(card: &CardChoice) -> Self {
        Self {
            vendor: card.vendor.as_str().to_owned(),
            model: card.model.to_string(),
            memory_gib: card.memory_gib,
            interface: card.interface.map(|interface| interface.as_str().to_owned()),
        }
    }
}

impl TryFrom<CardWire> for CardChoice {
    type Error = Unreadable;

    fn try_from(wire: CardWire) -> Result<Self, Unreadable> {
        let interface = wire.interface.as_deref().map(interface).transpose()?;
        Ok(Self {
            vendor: vendor(&wire.vendor)?,
            model: wire.model.into(),
            memory_gib: wire.memory_gib,
            interface,
        })
    }
}

/// A processor architecture by its name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ArchWire(String);

impl From<&CpuArch> for ArchWire {
    fn from(arch: &CpuArch) -> Self {
        Self(arch.as_str().to_owned())
    }
}

impl TryFrom<ArchWire> for CpuArch {
    type Error = Unreadable;

    fn try_from(ArchWire(name): ArchWire) -> Result<Self, Unreadable> {
        name.parse().map_err(|_| unreadable("architecture", &name, "expected amd64 or arm64"))
    }
}

pub(crate) fn vendor(name: &str) -> Result<GpuVendor, Unreadable> {
    let known = [GpuVendor::Nvidia, GpuVendor::Amd];
    let found = known.into_iter().find(|vendor| vendor.as_str() == name);
    found.ok_or_else(|| unreadable("GPU vendor", name, "expected nvidia or amd"))
}

pub(crate) fn interface(name: &str) -> Result<GpuInterface, Unreadable> {
    let known = [GpuInterface::Pcie, GpuInterface::Sxm];
    let found = known.into_iter().find(|interface| interface.as_str() == name);
    found.ok_or_else(|| unreadable("GPU interface", name, "expected pcie or sxm"))
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WorkloadWire {
    lease: LeaseIdWire,
    version: Option<String>,
    /// A manifest of one group, as tenants send it.
    manifest: String,
    cards: BTreeMap<String, CardWire>,
    withheld: Vec<String>,
    #[serde(default)]
    endpoints_to_take: Vec<String>,
    #[serde(default)]
    ignored: IgnoredOptions,
}

impl From<&Arc<Workload>> for WorkloadWire {
    fn from(workload: &Arc<Workload>) -> Self {
        Self {
            lease: (&workload.lease).into(),
            version: workload.version.map(|version| version.to_string()),
            manifest: group_to_json(&workload.group),
            cards: workload.cards.iter().map(|(name, card)| (name.clone(), card.into())).collect(),
            withheld: workload.withheld.clone(),
            endpoints_to_take: workload.endpoints_to_take.clone(),
            ignored: workload.ignored.clone(),
        }
    }
}

impl TryFrom<WorkloadWire> for Arc<Workload> {
    type Error = Unreadable;

    fn try_from(wire: WorkloadWire) -> Result<Self, Unreadable> {
        Ok(Self::new(Workload {
            lease: wire.lease.try_into()?,
            version: wire.version.as_deref().map(version).transpose()?,
            group: Arc::new(group_from_json(&wire.manifest)?),
            cards: cards(wire.cards)?,
            withheld: wire.withheld,
            endpoints_to_take: wire.endpoints_to_take,
            ignored: wire.ignored,
        }))
    }
}

pub(crate) fn cards(
    wire: BTreeMap<String, CardWire>,
) -> Result<BTreeMap<String, CardChoice>, Unreadable> {
    wire.into_iter().map(|(name, card)| Ok((name, card.try_into()?))).collect()
}

pub(crate) fn version(text: &str) -> Result<akash_sdl::Version, Unreadable> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(text, &mut bytes).map_err(|why| unreadable("version", text, why))?;
    Ok(bytes.into())
}

/// A group as tenants send it. Go leaves out an empty list of volumes, and so does this: read back,
/// it is no list. Whoever compares groups that were read compares this text.
pub(crate) fn group_to_json(group: &Group) -> String {
    Manifest { groups: vec![group.clone()] }.to_json()
}

pub(crate) fn group_from_json(text: &str) -> Result<Group, Unreadable> {
    let decoded = Manifest::from_json(text.as_bytes());
    let mut manifest = decoded.map_err(|why| unreadable("manifest", text, why))?.manifest;
    match (manifest.groups.pop(), manifest.groups.is_empty()) {
        (Some(group), true) => Ok(group),
        _ => Err(unreadable("manifest", text, "expected exactly one group")),
    }
}
