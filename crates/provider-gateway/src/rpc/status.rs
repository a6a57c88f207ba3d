//! How the provider is, as a message.

use std::collections::BTreeMap;
use std::time::SystemTime;

use akash_proto::akash::inventory::v1 as inventory;
use akash_proto::akash::provider::v1 as wire;
use akash_proto::k8s::io::apimachinery::pkg::api::resource::Quantity;
use akash_types::{GpuInterface, GpuVendor};
use provider_engine::cluster::view::{Amounts, GpuCard};
use provider_engine::engine::{InventoryStatus, NodeStatus, Published, Reserved, StorageStatus};

use crate::port::Identity;

/// The message of `GetStatus` at `now`. What is not known yet is absent.
pub fn status_message(published: &Published, identity: &Identity, now: SystemTime) -> wire::Status {
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let orders = published.status.orders.iter().map(|(_, count)| count).sum();
    let window = identity.reclamation_window;
    wire::Status {
        errors: published.status.errors(),
        cluster: Some(wire::ClusterStatus {
            leases: Some(wire::Leases { active: count(published.leases.len()) }),
            inventory: published.inventory.as_ref().map(inventory_message),
        }),
        bid_engine: Some(wire::BidEngineStatus { orders: count(orders) }),
        manifest: Some(wire::ManifestStatus { deployments: count(published.deployments) }),
        public_hostnames: vec![identity.public_hostname.clone()],
        timestamp: Some(now.into()),
        reclamation_window: window.and_then(|window| window.try_into().ok()),
    }
}

fn inventory_message(status: &InventoryStatus) -> wire::Inventory {
    let kept = |active| {
        let kept: Vec<&Reserved> =
            status.reserved.iter().filter(|kept| kept.active == active).collect();
        Some(metric(&kept))
    };
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let (total, used) = (number(status.ips.total), number(status.ips.used));
    wire::Inventory {
        cluster: Some(inventory::Cluster {
            nodes: status.nodes.iter().map(node).collect(),
            storage: status.storage.iter().map(storage).collect(),
        }),
        reservations: Some(wire::Reservations { pending: kept(false), active: kept(true) }),
        leased_ip: Some(pair(total, total.saturating_sub(used), whole)),
    }
}

fn node(status: &NodeStatus) -> inventory::Node {
    let (all, left) = (status.allocatable, status.available);
    inventory::Node {
        name: status.name.to_string(),
        resources: Some(inventory::NodeResources {
            cpu: Some(inventory::Cpu {
                quantity: Some(pair(all.cpu_milli, left.cpu_milli, thousandths)),
                info: processors(status),
            }),
            memory: Some(inventory::Memory {
                quantity: Some(pair(all.memory, left.memory, whole)),
                info: Vec::new(),
            }),
            gpu: Some(inventory::Gpu {
                quantity: Some(pair(all.gpu, left.gpu, whole)),
                info: status.cards.iter().map(card).collect(),
            }),
            ephemeral_storage: Some(pair(all.ephemeral, left.ephemeral, whole)),
            volumes_attached: Some(taken(status.volumes.attached)),
            volumes_mounted: Some(taken(status.volumes.mounted)),
        }),
        capabilities: Some(inventory::NodeCapabilities {
            storage_classes: status.storage_classes.iter().map(ToString::to_string).collect(),
        }),
    }
}

/// The processors of a node, of which only the architecture is known. One that orders cannot ask
/// for is not named.
fn processors(status: &NodeStatus) -> Vec<inventory::CpuInfo> {
    let arch = status.arch.known().map(|arch| arch.as_str().to_owned());
    let info = |arch| inventory::CpuInfo { arch, ..inventory::CpuInfo::default() };
    arch.map(info).into_iter().collect()
}

fn card(card: &GpuCard) -> inventory::GpuInfo {
    let vendor_id = match card.vendor {
        GpuVendor::Nvidia => "10de",
        GpuVendor::Amd => "1002",
    };
    let interface = match card.interface {
        Some(GpuInterface::Pcie) => "PCIe",
        Some(GpuInterface::Sxm) => "SXM",
        None => "",
    };
    inventory::GpuInfo {
        vendor: card.vendor.as_str().to_owned(),
        vendor_id: vendor_id.to_owned(),
        name: card.model.to_string(),
        modelid: String::new(),
        interface: interface.to_owned(),
        memory_size: card.memory_gib.map_or_else(String::new, |gib| format!("{gib}Gi")),
    }
}

fn storage(status: &StorageStatus) -> inventory::Storage {
    inventory::Storage {
        quantity: Some(pair(status.allocatable, status.available, whole)),
        info: Some(inventory::StorageInfo { class: status.class.to_string(), iops: String::new() }),
    }
}

type Write = fn(i64) -> Option<akash_proto::k8s::io::apimachinery::pkg::api::resource::Quantity>;

fn pair(all: i64, left: i64, write: Write) -> inventory::ResourcePair {
    inventory::ResourcePair {
        allocatable: write(all),
        allocated: write(all.saturating_sub(left)),
        attributes: Vec::new(),
        capacity: write(all),
    }
}

/// How much is taken of something of which it is not known how much there is.
fn taken(count: u32) -> inventory::ResourcePair {
    inventory::ResourcePair { allocated: whole(count.into()), ..pair(0, 0, whole) }
}

fn metric(kept: &[&Reserved]) -> wire::ReservationsMetric {
    let mut sum = Amounts::default();
    let mut classes: BTreeMap<String, i64> = BTreeMap::new();
    for kept in kept {
        sum.cpu_milli = sum.cpu_milli.saturating_add(kept.amounts.cpu_milli);
        sum.memory = sum.memory.saturating_add(kept.amounts.memory);
        sum.gpu = sum.gpu.saturating_add(kept.amounts.gpu);
        sum.ephemeral = sum.ephemeral.saturating_add(kept.amounts.ephemeral);
        for (class, bytes) in &kept.storage {
            let total = classes.entry(class.to_string()).or_default();
            *total = total.saturating_add(*bytes);
        }
    }
    let storage = classes.into_iter().filter_map(|(class, bytes)| Some((class, whole(bytes)?)));
    wire::ReservationsMetric {
        count: u32::try_from(kept.len()).unwrap_or(u32::MAX),
        resources: Some(wire::ResourcesMetric {
            cpu: thousandths(sum.cpu_milli),
            memory: whole(sum.memory),
            gpu: whole(sum.gpu),
            ephemeral_storage: whole(sum.ephemeral),
            storage: storage.collect(),
        }),
    }
}

/// A number of whole things, in the shortest decimal form: `900G`, `2k`, `1536`.
pub(super) fn whole(number: i64) -> Option<Quantity> {
    Some(text(scaled(number)))
}

/// A number of thousandths: `2`, `1500m`.
pub(super) fn thousandths(number: i64) -> Option<Quantity> {
    let shown = if number % 1000 == 0 { scaled(number / 1000) } else { format!("{number}m") };
    Some(text(shown))
}

fn text(text: String) -> Quantity {
    Quantity { string: Some(text) }
}

fn scaled(number: i64) -> String {
    const SUFFIXES: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
    let mut number = number;
    let mut suffix = "";
    for next in SUFFIXES.into_iter().skip(1) {
        if number == 0 || number % 1000 != 0 {
            break;
        }
        number /= 1000;
        suffix = next;
    }
    format!("{number}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_in_their_shortest_form() {
        let said = |quantity: Option<Quantity>| quantity.unwrap().string.unwrap();
        for (number, shown) in [
            (0, "0"),
            (1, "1"),
            (2000, "2k"),
            (900_000_000_000, "900G"),
            (1_099_511_627_776, "1099511627776"),
            (-3000, "-3k"),
        ] {
            assert_eq!(said(whole(number)), shown);
        }
        for (number, shown) in
            [(0, "0"), (100, "100m"), (31850, "31850m"), (256_000, "256"), (2_000_000, "2k")]
        {
            assert_eq!(said(thousandths(number)), shown);
        }
    }
}
