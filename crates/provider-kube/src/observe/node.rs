//! Machines, and what runs on them.

use std::collections::BTreeMap;

use akash_types::LeaseId;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use provider_crd::labels;
use provider_engine::cluster::view::{self, Amounts, Exclusion, Name, NodeArch};

use super::quantity::whole;
use super::{Seen, asks, cards, replica, storage};

/// What pods and volumes on a node have that are not of leases.
#[derive(Clone, Copy, Debug, Default)]
struct Others {
    amounts: Amounts,
    /// Cards by vendor, as in [`asks::CARDS`].
    cards: [i64; asks::CARDS.len()],
}

/// All nodes, with what pods and volumes on their disks have that are not of leases. `local` are
/// the classes of such volumes.
pub(super) fn nodes(
    seen: &Seen<'_>,
    pods: &[&Pod],
    leases: &BTreeMap<String, LeaseId>,
    local: &[&str],
) -> BTreeMap<Name, view::Node> {
    let mut others: BTreeMap<&str, Others> = BTreeMap::new();
    for pod in pods {
        if replica::lease_of(pod, leases).is_some() || replica::has_ended(pod) {
            continue;
        }
        let Some(node) = replica::node_of(pod) else { continue };
        let sum = others.entry(node).or_default();
        sum.amounts = asks::sum(sum.amounts, asks::of(pod));
        sum.amounts.memory = sum.amounts.memory.saturating_add(asks::memory_volumes(pod));
        for (count, (_, resource)) in sum.cards.iter_mut().zip(asks::CARDS) {
            *count = count.saturating_add(asks::devices(pod, resource));
        }
    }
    for volume in seen.volumes {
        let on_disk = storage::class_of(volume).is_some_and(|class| local.contains(&class));
        if let Some(node) = storage::node_of(volume).filter(|_| on_disk)
            && !storage::is_of_lease(volume, leases)
        {
            let disk = &mut others.entry(node).or_default().amounts.ephemeral;
            *disk = disk.saturating_add(storage::size(volume));
        }
    }
    let named = seen.nodes.iter().filter_map(|node| {
        let name = node.metadata.name.as_deref()?;
        Some((Name::from(name), one(node, others.get(name).copied().unwrap_or_default())))
    });
    named.collect()
}

fn one(node: &Node, others: Others) -> view::Node {
    let none = BTreeMap::new();
    let labels = node.metadata.labels.as_ref().unwrap_or(&none);
    let status = node.status.as_ref();
    let allocatable = status.and_then(|status| status.allocatable.as_ref());
    let capacity = status.and_then(|status| status.capacity.as_ref());
    let count = |list: Option<&BTreeMap<String, Quantity>>, resource: &str| {
        list.and_then(|list| whole(&list.get(resource)?.0)).unwrap_or_default()
    };
    let plugins: Vec<_> = (asks::CARDS.iter().zip(others.cards))
        .map(|((vendor, resource), taken)| cards::Plugin {
            vendor: *vendor,
            capacity: count(capacity, resource),
            allocatable: count(allocatable, resource),
            taken,
        })
        .collect();
    let devices = allocatable.into_iter().flatten().filter(|(name, _)| is_unsold_device(name));
    let devices = devices.filter_map(|(name, count)| {
        let count = whole(&count.0).filter(|count| *count > 0)?;
        Some((Name::from(name.as_str()), count))
    });
    view::Node {
        exclusions: exclusions(node, labels),
        allocatable: allocatable.map(asks::amounts).unwrap_or_default(),
        others: others.amounts,
        cards: cards::of(labels, &plugins),
        unsold_devices: devices.collect(),
        storage_classes: storage_classes(labels),
        arch: arch(node),
    }
}

/// Devices of vendors of cards that no lease can ask for: slices of cards (`nvidia.com/mig-…`) and
/// cards for virtual machines (`nvidia.com/pgpu`).
fn is_unsold_device(resource: &str) -> bool {
    let vendor = resource.split_once('/').map_or("", |(domain, _)| domain);
    matches!(vendor, "nvidia.com" | "amd.com")
        && asks::CARDS.iter().all(|(_, sold)| *sold != resource)
}

/// The architecture of a node: the label that affinity looks at, else what its kubelet reports.
pub(crate) fn arch(node: &Node) -> NodeArch {
    let label = node.metadata.labels.as_ref().and_then(|labels| labels.get(labels::NODE_ARCH));
    let info = node.status.as_ref().and_then(|status| status.node_info.as_ref());
    let reported = label.or(info.map(|info| &info.architecture));
    NodeArch::reported(reported.map(String::as_str))
}

/// Why no pod of a lease may be put on it.
fn exclusions(node: &Node, labels: &BTreeMap<String, String>) -> Vec<Exclusion> {
    let mut exclusions = Vec::new();
    if labels.get(labels::MANAGED).is_none_or(|value| value != labels::TRUE) {
        exclusions.push(Exclusion::Unmanaged(labels::MANAGED.into()));
    }
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_ref());
    let ready = conditions.into_iter().flatten().find(|condition| condition.type_ == "Ready");
    match ready {
        Some(ready) if ready.status == "True" => {}
        Some(ready) => {
            let why = ready.reason.as_deref().filter(|reason| !reason.is_empty());
            exclusions.push(Exclusion::NotReady(why.unwrap_or("no reason given").into()));
        }
        None => exclusions.push(Exclusion::NotReady("no report".into())),
    }
    let spec = node.spec.as_ref();
    let is_cordoned = spec.and_then(|spec| spec.unschedulable).unwrap_or_default();
    if is_cordoned {
        exclusions.push(Exclusion::Cordoned);
    }
    // Pods of leases tolerate nothing. What Kubernetes itself adds for the states above is no news.
    let taints = spec.and_then(|spec| spec.taints.as_ref()).into_iter().flatten();
    let taints = taints.filter(|taint| matches!(&*taint.effect, "NoSchedule" | "NoExecute"));
    for taint in taints {
        let repeats = match &*taint.key {
            "node.kubernetes.io/unschedulable" => is_cordoned,
            "node.kubernetes.io/not-ready" | "node.kubernetes.io/unreachable" => {
                ready.is_none_or(|ready| ready.status != "True")
            }
            _ => false,
        };
        if !repeats {
            let value = taint.value.as_deref().map_or_else(String::new, |it| format!("={it}"));
            let text = format!("{}{value}:{}", taint.key, taint.effect);
            exclusions.push(Exclusion::Tainted(text.into()));
        }
    }
    exclusions
}

/// Classes whose label counts more than none, which is what a workload looks for.
fn storage_classes(labels: &BTreeMap<String, String>) -> Vec<Name> {
    let counted = labels.iter().filter_map(|(key, count)| {
        let class = key.strip_prefix(labels::NODE_STORAGE_CLASS)?.strip_prefix('.')?;
        (count.parse::<i64>().unwrap_or_default() > 0).then(|| Name::from(class))
    });
    counted.collect()
}
