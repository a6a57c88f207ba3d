//! Machines, and what runs on them.

use std::collections::BTreeMap;

use akash_types::LeaseId;
use k8s_openapi::api::core::v1::{Node, Pod};
use provider_crd::labels;
use provider_engine::cluster::view::{self, Amounts, Name, NodeArch};

use super::{asks, cards, replica};

/// All nodes, with what pods ask for that are not of leases.
pub(super) fn nodes(
    nodes: &[Node],
    pods: &[&Pod],
    leases: &BTreeMap<String, LeaseId>,
) -> BTreeMap<Name, view::Node> {
    let mut others: BTreeMap<&str, Amounts> = BTreeMap::new();
    for pod in pods {
        if replica::lease_of(pod, leases).is_some() || replica::has_ended(pod) {
            continue;
        }
        if let Some(node) = replica::node_of(pod) {
            let sum = others.entry(node).or_default();
            *sum = asks::sum(*sum, asks::of(pod));
        }
    }
    let named = nodes.iter().filter_map(|node| {
        let name = node.metadata.name.as_deref()?;
        Some((Name::from(name), one(node, others.get(name).copied().unwrap_or_default())))
    });
    named.collect()
}

fn one(node: &Node, others: Amounts) -> view::Node {
    let none = BTreeMap::new();
    let labels = node.metadata.labels.as_ref().unwrap_or(&none);
    let allocatable = node.status.as_ref().and_then(|status| status.allocatable.as_ref());
    let mut cards = cards::of(labels);
    // Which cards others have is not to be seen; that they have so many is.
    let taken = usize::try_from(others.gpu).unwrap_or_default();
    for card in cards.iter_mut().take(taken) {
        card.taken_by_others = true;
    }
    view::Node {
        schedulable: is_schedulable(node, labels),
        allocatable: allocatable.map(asks::amounts).unwrap_or_default(),
        others,
        cards,
        storage_classes: storage_classes(labels),
        arch: arch(node),
    }
}

/// The architecture of a node: the label that affinity looks at, else what its kubelet reports.
pub(crate) fn arch(node: &Node) -> NodeArch {
    let label = node.metadata.labels.as_ref().and_then(|labels| labels.get(labels::NODE_ARCH));
    let info = node.status.as_ref().and_then(|status| status.node_info.as_ref());
    let reported = label.or(info.map(|info| &info.architecture));
    NodeArch::reported(reported.map(String::as_str))
}

/// Whether a pod of a lease may be put on it: it is one of ours, ready, and nobody keeps pods away.
fn is_schedulable(node: &Node, labels: &BTreeMap<String, String>) -> bool {
    let spec = node.spec.as_ref();
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_ref());
    let is_ready = conditions
        .into_iter()
        .flatten()
        .any(|condition| condition.type_ == "Ready" && condition.status == "True");
    // Pods of leases tolerate nothing.
    let is_tainted = spec
        .and_then(|spec| spec.taints.as_ref())
        .into_iter()
        .flatten()
        .any(|taint| matches!(taint.effect.as_str(), "NoSchedule" | "NoExecute"));
    labels.get(labels::MANAGED).is_some_and(|value| value == labels::TRUE)
        && is_ready
        && !is_tainted
        && !spec.and_then(|spec| spec.unschedulable).unwrap_or_default()
}

/// Classes whose label counts more than none, which is what a workload looks for.
fn storage_classes(labels: &BTreeMap<String, String>) -> Vec<Name> {
    let counted = labels.iter().filter_map(|(key, count)| {
        let class = key.strip_prefix(labels::NODE_STORAGE_CLASS)?.strip_prefix('.')?;
        (count.parse::<i64>().unwrap_or_default() > 0).then(|| Name::from(class))
    });
    counted.collect()
}
