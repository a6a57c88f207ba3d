//! What machines there are, and how to write it down.
//!
//! ```text
//! [COUNT*]NAME:KEY=VALUE,KEY=VALUE;…      nodes, separated by ';'
//!
//! cpu=16            cores, or thousandths with an m: 500m
//! memory=64Gi       bytes, with Ki Mi Gi Ti
//! disk=500Gi        storage that lives with the pod
//! gpu=2*a100/80     cards: [COUNT*][VENDOR/]MODEL[/GIB][/pcie|sxm]; nvidia if nobody says
//! arch=arm64        architecture of the processors: amd64, if nobody says, or arm64
//! storage=beta2:1Ti a class of persistent storage: its size is added to the class's
//! ```
//!
//! `3*node:cpu=16,memory=64Gi,disk=500Gi` makes node-1, node-2 and node-3.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::str::FromStr;

use akash_types::{CpuArch, GpuInterface, GpuVendor};
use provider_engine::cluster::view::{
    Amounts, CardState, GpuCard, Name, Node, NodeArch, StorageClass,
};

/// Ports of nodes that lead to services, as Kubernetes has them by default.
const NODE_PORTS: RangeInclusive<u16> = 30_000..=32_767;

/// Machines, storage and addresses of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterSpec {
    pub nodes: BTreeMap<Name, Node>,
    pub storage: BTreeMap<Name, StorageClass>,
    /// How many addresses can be leased, 508 at most; `None` if nobody hands any out. They are of
    /// 192.0.2.0/24 and 198.51.100.0/24, which exist in documents only.
    pub ips: Option<u32>,
    /// Ports of nodes that can lead to services.
    pub node_ports: RangeInclusive<u16>,
}

impl Default for ClusterSpec {
    fn default() -> Self {
        let (nodes, storage) = (BTreeMap::new(), BTreeMap::new());
        Self { nodes, storage, ips: None, node_ports: NODE_PORTS }
    }
}

/// Why a text describes no machines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{part:?}: {problem}")]
pub struct SpecError {
    pub part: String,
    pub problem: String,
}

/// Most nodes that one entry makes.
const MOST_NODES: u32 = 10_000;
/// Most cards that one node has.
const MOST_CARDS: u32 = 64;

impl ClusterSpec {
    /// A cluster for a first look: three nodes, one of them with two cards, and some storage.
    pub fn small() -> Self {
        let text = "2*node:cpu=16,memory=64Gi,disk=500Gi,storage=beta2:1Ti;\
                    gpu:cpu=32,memory=256Gi,disk=1Ti,gpu=2*a100/80/pcie,storage=beta2:1Ti";
        // A test reads it.
        let spec: Self = text.parse().unwrap_or_default();
        Self { ips: Some(8), ..spec }
    }
}

impl FromStr for ClusterSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut spec = Self { ips: Some(8), ..Self::default() };
        for entry in text.split(';').map(str::trim).filter(|entry| !entry.is_empty()) {
            let (head, body) = entry.split_once(':').ok_or_else(|| {
                wrong(entry, "expected [COUNT*]NAME:KEY=VALUE,…, such as node:cpu=8,memory=32Gi")
            })?;
            let (count, name) = counted(head, MOST_NODES)?;
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
                return Err(wrong(head, "a node's name has letters, digits and - only"));
            }
            let (node, storage) = node(entry, body)?;
            for number in 1..=count.unwrap_or(1) {
                let name: Name = match count {
                    Some(_) => format!("{name}-{number}").into(),
                    None => name.into(),
                };
                for (class, bytes) in &storage {
                    let class = spec.storage.entry(class.clone()).or_default();
                    class.allocatable = class.allocatable.saturating_add(*bytes);
                }
                if spec.nodes.insert(name.clone(), node.clone()).is_some() {
                    return Err(wrong(&name, "two nodes have this name"));
                }
            }
        }
        match spec.nodes.is_empty() {
            true => Err(wrong(text, "there is no node in it")),
            false => Ok(spec),
        }
    }
}

fn node(entry: &str, body: &str) -> Result<(Node, BTreeMap<Name, i64>), SpecError> {
    let (mut amounts, mut cards, mut storage) = (Amounts::default(), Vec::new(), BTreeMap::new());
    let mut arch = CpuArch::default();
    for pair in body.split(',').map(str::trim) {
        let (key, value) = pair.split_once('=').ok_or_else(|| wrong(pair, "expected KEY=VALUE"))?;
        match key {
            "cpu" => amounts.cpu_milli = cpu(value)?,
            "memory" => amounts.memory = bytes(value)?,
            "disk" => amounts.ephemeral = bytes(value)?,
            "gpu" => cards.extend(self::cards(value)?),
            "arch" => arch = value.parse().map_err(|_| wrong(value, "expected amd64 or arm64"))?,
            "storage" => {
                let (class, size) = value
                    .split_once(':')
                    .filter(|(class, _)| !class.is_empty())
                    .ok_or_else(|| wrong(pair, "expected storage=CLASS:SIZE"))?;
                storage.insert(Name::from(class), bytes(size)?);
            }
            _ => return Err(wrong(pair, "expected cpu, memory, disk, gpu, arch or storage")),
        }
    }
    if amounts.cpu_milli == 0 || amounts.memory == 0 {
        return Err(wrong(entry, "a node needs cpu and memory"));
    }
    amounts.gpu = i64::try_from(cards.len()).unwrap_or(i64::MAX);
    let node = Node {
        allocatable: amounts,
        others: Amounts::default(),
        cards,
        storage_classes: storage.keys().cloned().collect(),
        arch: NodeArch::Known(arch),
        ..Node::default()
    };
    Ok((node, storage))
}

/// Reads `COUNT*REST` or `REST`.
fn counted(text: &str, most: u32) -> Result<(Option<u32>, &str), SpecError> {
    let Some((count, rest)) = text.split_once('*') else { return Ok((None, text.trim())) };
    match count.trim().parse::<u32>() {
        Ok(count) if (1..=most).contains(&count) => Ok((Some(count), rest.trim())),
        _ => Err(wrong(text, &format!("the number before * must be from 1 to {most}"))),
    }
}

fn cpu(text: &str) -> Result<i64, SpecError> {
    let problem = "expected cores such as 16, or thousandths such as 500m";
    let (digits, factor) = text.strip_suffix('m').map_or((text, 1000), |digits| (digits, 1));
    let number = digits.parse::<u32>().map_err(|_| wrong(text, problem))?;
    Ok(i64::from(number) * factor)
}

fn bytes(text: &str) -> Result<i64, SpecError> {
    let problem = "expected a size such as 64Gi; suffixes are Ki Mi Gi Ti";
    let suffixes = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40)];
    let found = suffixes
        .iter()
        .find_map(|(suffix, bits)| text.strip_suffix(suffix).map(|digits| (digits, 1_i64 << bits)));
    let (digits, factor) = found.unwrap_or((text, 1));
    let number = digits.parse::<u32>().map_err(|_| wrong(text, problem))?;
    i64::from(number).checked_mul(factor).ok_or_else(|| wrong(text, "that is too much"))
}

fn cards(text: &str) -> Result<Vec<GpuCard>, SpecError> {
    let (count, kind) = counted(text, MOST_CARDS)?;
    let (mut vendor, mut model, mut memory_gib, mut interface) = (None, None, None, None);
    for part in kind.split('/') {
        match (part, part.parse::<u64>()) {
            ("nvidia", _) => vendor = Some(GpuVendor::Nvidia),
            ("amd", _) => vendor = Some(GpuVendor::Amd),
            ("pcie", _) => interface = Some(GpuInterface::Pcie),
            ("sxm", _) => interface = Some(GpuInterface::Sxm),
            (_, Ok(gib)) => memory_gib = Some(gib),
            (name, _) if model.is_none() && !name.is_empty() => model = Some(Name::from(name)),
            _ => return Err(wrong(part, "expected [COUNT*][VENDOR/]MODEL[/GIB][/pcie|sxm]")),
        }
    }
    let model = model.ok_or_else(|| wrong(text, "a card needs a model, such as a100"))?;
    let vendor = vendor.unwrap_or(GpuVendor::Nvidia);
    let card = GpuCard { vendor, model, memory_gib, interface, state: CardState::Usable };
    Ok((0..count.unwrap_or(1)).map(|_| card.clone()).collect())
}

fn wrong(part: &str, problem: &str) -> SpecError {
    SpecError { part: part.to_owned(), problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_small_cluster_can_be_read() {
        let spec = ClusterSpec::small();
        let names: Vec<&str> = spec.nodes.keys().map(|name| &**name).collect();
        assert_eq!(names, ["gpu", "node-1", "node-2"]);
        assert_eq!(spec.nodes["node-1"].allocatable.cpu_milli, 16_000);
        assert_eq!(spec.nodes["node-2"].allocatable.memory, 64 << 30);
        let card = &spec.nodes["gpu"].cards[1];
        assert_eq!((&*card.model, card.memory_gib), ("a100", Some(80)));
        assert_eq!(card.interface, Some(GpuInterface::Pcie));
        assert_eq!(spec.nodes["gpu"].allocatable.gpu, 2);
        assert_eq!(spec.storage["beta2"].allocatable, 3 << 40);
    }

    #[test]
    fn what_is_no_cluster_is_said_where() {
        for (text, part) in [
            ("", ""),
            ("node", "node"),
            ("node:cpu=1", "node:cpu=1"),
            ("node:cpu=x,memory=1Gi", "x"),
            ("node:cpu=1,memory=1GB", "1GB"),
            ("node:cpu=1,memory=1Gi,colour=red", "colour=red"),
            ("0*node:cpu=1,memory=1Gi", "0*node"),
            ("a_b:cpu=1,memory=1Gi", "a_b"),
            ("n:cpu=1,memory=1Gi;n:cpu=1,memory=1Gi", "n"),
            ("n:cpu=1,memory=1Gi,gpu=2*80", "2*80"),
            ("n:cpu=1,memory=1Gi,storage=beta2", "storage=beta2"),
            ("n:cpu=1,memory=1Gi,arch=mips", "mips"),
        ] {
            assert_eq!(text.parse::<ClusterSpec>().unwrap_err().part, part, "{text}");
        }
    }
}
