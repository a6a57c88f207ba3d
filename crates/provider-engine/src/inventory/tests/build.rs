//! Small clusters, groups and leases to try things on.

use std::collections::BTreeMap;
use std::sync::Arc;

use akash_sdl::manifest::{Group, Service, ServiceResources};
use akash_types::{
    Address, Attribute, Cpu, CpuArch, DeploymentId, Endpoint, EndpointKind, Gpu, GpuInterface,
    GpuVendor, GroupId, GroupSpec, LeaseId, Memory, OrderId, PlacementRequirements, ResourceUnit,
    Resources, Storage,
};

use crate::cluster::view::{
    Amounts, CardChoice, CardState, ClusterView, Condition, GpuCard, Held, LeaseView, Node,
    NodeArch, Replica,
};
use crate::inventory::{CommitLevels, GroupNeed};

pub(super) const GIB: u64 = 1 << 30;
pub(super) const GI: i64 = 1 << 30;

/// A node with cores, GiB of memory and of storage.
pub(super) fn node(cores: i64, memory: i64, ephemeral: i64) -> Node {
    Node {
        allocatable: Amounts {
            cpu_milli: cores * 1000,
            memory: memory * GI,
            ephemeral: ephemeral * GI,
            gpu: 0,
        },
        arch: NodeArch::Known(CpuArch::Amd64),
        ..Node::default()
    }
}

/// A large node with these cards.
pub(super) fn gpu_node(cards: &[(&str, usize)]) -> Node {
    let mut node = node(64, 256, 1000);
    for (text, count) in cards {
        node.cards.extend(std::iter::repeat_n(card(text), *count));
    }
    node.allocatable.gpu = i64::try_from(node.cards.len()).unwrap();
    node
}

/// `a100`, `a100/80`, `a100/80/sxm`.
pub(super) fn card(text: &str) -> GpuCard {
    let mut parts = text.split('/');
    GpuCard {
        vendor: GpuVendor::Nvidia,
        model: parts.next().unwrap().into(),
        memory_gib: parts.next().map(|gib| gib.parse().unwrap()),
        interface: parts.next().map(|name| match name {
            "sxm" => GpuInterface::Sxm,
            _ => GpuInterface::Pcie,
        }),
        state: CardState::Usable,
    }
}

pub(super) fn choice(text: &str) -> CardChoice {
    let GpuCard { vendor, model, memory_gib, interface, .. } = card(text);
    CardChoice { vendor, model, memory_gib, interface }
}

pub(super) fn cluster(nodes: &[(&str, Node)]) -> ClusterView {
    let nodes = nodes.iter().map(|(name, node)| ((*name).into(), node.clone())).collect();
    ClusterView { nodes, ..ClusterView::default() }
}

/// `count` replicas with thousandths of a core and GiB of memory.
pub(super) fn unit(id: u32, count: u32, cpu: u64, memory: u64) -> ResourceUnit {
    ResourceUnit {
        resources: Resources {
            id,
            cpu: Cpu { units: cpu, attributes: Vec::new() },
            memory: Memory { quantity: memory * GIB, attributes: Vec::new() },
            ..Resources::default()
        },
        count,
        price: "100uact".parse().unwrap(),
    }
}

pub(super) fn with_gpu(mut unit: ResourceUnit, units: u64, keys: &[&str]) -> ResourceUnit {
    let attributes = keys.iter().map(|key| Attribute::new(*key, "true")).collect();
    unit.resources.gpu = Gpu { units, attributes };
    unit
}

pub(super) fn with_volume(
    mut unit: ResourceUnit,
    gib: u64,
    attributes: &[(&str, &str)],
) -> ResourceUnit {
    let attributes = attributes.iter().map(|(key, value)| Attribute::new(*key, *value)).collect();
    let name = format!("volume-{}", unit.resources.storage.len());
    unit.resources.storage.push(Storage { name, quantity: gib * GIB, attributes });
    unit
}

pub(super) fn with_endpoint(
    mut unit: ResourceUnit,
    kind: EndpointKind,
    number: u32,
) -> ResourceUnit {
    unit.resources.endpoints.push(Endpoint { kind, sequence_number: number });
    unit
}

pub(super) fn group(units: Vec<ResourceUnit>) -> GroupSpec {
    let requirements = PlacementRequirements::default();
    GroupSpec { name: "west".to_owned(), requirements, resources: units }
}

pub(super) fn need(units: Vec<ResourceUnit>) -> GroupNeed {
    GroupNeed::of(&group(units), &CommitLevels::default()).unwrap()
}

pub(super) fn lease_id(number: u64) -> LeaseId {
    let address = |byte| Address::from_bytes(&[byte; 20]).unwrap();
    let deployment = DeploymentId::new(address(1), number).unwrap();
    let order = OrderId::new(GroupId::new(deployment, 1).unwrap(), 1).unwrap();
    LeaseId::new(order, address(2))
}

/// A lease that holds one service `svc-<id>` for each unit, and has no pods yet.
pub(super) fn lease(number: u64, units: &[ResourceUnit]) -> LeaseView {
    let services = units.iter().map(|unit| {
        let resources = ServiceResources {
            id: unit.resources.id,
            storage: Some(unit.resources.storage.clone()),
            endpoints: Some(unit.resources.endpoints.clone()),
            ..ServiceResources::default()
        };
        let name = format!("svc-{}", unit.resources.id);
        Service { name, resources, count: unit.count, ..Service::default() }
    });
    let held = Held {
        version: None,
        group: Arc::new(Group { name: "west".to_owned(), services: services.collect() }),
        cards: BTreeMap::new(),
        deployed: true,
        ignored: BTreeMap::new(),
    };
    LeaseView { held: Some(held), ..LeaseView::empty(lease_id(number)) }
}

/// A pod of unit `id` that asks for `asks`.
pub(super) fn pod(id: u32, node: Option<&str>, asks: Amounts) -> Replica {
    Replica {
        service: format!("svc-{id}"),
        node: node.map(Into::into),
        asks,
        card: None,
        condition: Condition::Ready,
        restarts: 0,
    }
}
