//! What the engine sees of a lease, of a node and of the rest, from what was shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use akash_types::LeaseId;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::storage::v1::StorageClass;
use k8s_openapi::jiff::Timestamp;
use provider_crd::{labels, names};
use provider_engine::cluster::view::{self, ClusterView, LeaseView, Name};

use super::drawer::Drawer;
use super::mirror::Mirror;
use crate::apply::stale;
use crate::build::{self, Object};
use crate::client::Kind;
use crate::follow::Shown;
use crate::merge::keep_settings;
use crate::observe::{self, Known, Seen, carry_revision, is_written};
use crate::resolve::Lease;
use crate::settings::Settings;

/// Key of the provider's memory under which maintenance is kept.
pub(crate) const MAINTENANCE: &str = "maintenance";
/// What makes volumes of folders on nodes.
const LOCAL_PATH: &str = "rancher.io/local-path";

/// What is there of the lease whose namespace this is.
pub(crate) fn lease(
    mirror: &Mirror,
    namespace: &str,
    settings: &Settings,
) -> Option<(LeaseId, LeaseView)> {
    let drawer = mirror.drawer(namespace)?;
    let id = drawer.lease?;
    let known = Known {
        deployed: is_deployed(drawer, settings).then_some(id).into_iter().collect(),
        ..Known::default()
    };
    let pods: Vec<Pod> = drawer.pods.values().map(|pod| Pod::clone(pod)).collect();
    let seen = Seen {
        pods: &pods,
        namespaces: &drawer.typed(Kind::NAMESPACE),
        claims: &drawer.typed(Kind::CLAIM),
        manifests: &drawer.typed(Kind::MANIFEST),
        hosts: &drawer.typed(Kind::HOST),
        leased_ips: &drawer.typed(Kind::LEASED_IP),
        ..Seen::default()
    };
    let mut view = observe::view(&seen, &known, settings);
    Some((id, view.leases.remove(&id)?))
}

/// Whether everything of the lease was written from the `Manifest` that is there: it carries that
/// one's revision, or nothing is to be written and nothing to be removed.
pub(crate) fn is_deployed(drawer: &Drawer, settings: &Settings) -> bool {
    if drawer.of(Kind::NAMESPACE).next().is_none() {
        return false;
    }
    let lease = drawer.manifest().and_then(|manifest| Lease::of(&manifest).ok());
    lease.is_some_and(|lease| is_all_written(drawer, &lease, settings).unwrap_or_default())
}

fn is_all_written(drawer: &Drawer, lease: &Lease, settings: &Settings) -> Option<bool> {
    let objects = build::workload(lease, settings).ok()?;
    let there = |kind: &str, name: &str| drawer.get(Kind::named(kind)?, name);
    if carry_revision(&objects, |kind, name| there(kind, name).map(|shown| &shown.labels)) {
        return Some(true);
    }
    // Compared with what the lease was created with: new leases may be confined otherwise.
    let isolation = settings.isolation.of_lease(drawer.namespace().as_ref());
    let generated_hosts = generated_hosts(drawer, lease, settings);
    let settings = &Settings { isolation, generated_hosts, ..settings.clone() };
    let mut objects = build::workload(lease, settings).ok()?;
    let json = |kind: &str, name: &str| drawer.json(kind, name);
    keep_settings(lease, &mut objects, json);
    let hosts = build::hosts(lease, settings, &[], Timestamp::default());
    objects.extend(hosts.into_iter().map(Object::from));
    objects.extend(build::leased_ips(lease, settings).ok()?.into_iter().map(Object::from));
    Some(is_written(&objects, json) && stale(drawer, lease, &objects, &[], settings).is_empty())
}

/// The domain of the hostnames that the lease got without asking, which may be that of an earlier
/// setting; the current one if it got none.
fn generated_hosts(drawer: &Drawer, lease: &Lease, settings: &Settings) -> Option<String> {
    let labels: Vec<String> = lease
        .services
        .iter()
        .map(|service| names::generated_host_label(&lease.id, service.name()))
        .collect();
    let domain = |shown: &Arc<Shown>| {
        let (label, domain) = shown.name.split_once('.')?;
        labels.iter().any(|own| own == label).then(|| domain.to_owned())
    };
    let current = settings.generated_hosts.as_ref()?;
    let found: Vec<String> = drawer.of(Kind::HOST).filter_map(domain).collect();
    if found.contains(current) {
        Some(current.clone())
    } else {
        found.into_iter().next().or_else(|| Some(current.clone()))
    }
}

/// A node, with what pods on it ask for that are not of leases.
pub(crate) fn node(mirror: &Mirror, name: &str, settings: &Settings) -> Option<view::Node> {
    let node = mirror.nodes.get(name)?;
    let on = mirror.on_node.get(name).into_iter().flatten();
    let others = on.filter_map(|(namespace, name)| {
        let drawer = mirror.drawer(namespace)?;
        let pod = drawer.pods.get(name)?;
        (!drawer.is_replica(pod)).then(|| Pod::clone(pod))
    });
    let pods: Vec<Pod> = others.collect();
    let nodes = [Node::clone(node)];
    let seen = Seen { nodes: &nodes, pods: &pods, ..Seen::default() };
    observe::view(&seen, &Known::default(), settings).nodes.remove(name)
}

/// Whether nodes that workloads may run on have different architectures.
pub(crate) fn has_mixed_architectures(mirror: &Mirror) -> bool {
    let is_managed = |node: &&Arc<Node>| {
        let labels = node.metadata.labels.as_ref();
        labels.is_some_and(|found| found.get(labels::MANAGED).is_some_and(|it| it == labels::TRUE))
    };
    let mut found = mirror.nodes.values().filter(is_managed).map(|node| observe::node::arch(node));
    found.next().is_some_and(|first| found.any(|other| other != first))
}

/// Persistent storage by class: of the classes that carry our label.
pub(crate) fn storage(mirror: &Mirror, settings: &Settings) -> BTreeMap<Name, view::StorageClass> {
    let is_leased = |namespace: Option<&String>| {
        let drawer = namespace.and_then(|namespace| mirror.drawer(namespace));
        drawer.is_some_and(|drawer| drawer.lease.is_some())
    };
    let foreign = mirror.volumes.values().filter(|volume| {
        let claim = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref());
        !is_leased(claim.and_then(|claim| claim.namespace.as_ref()))
    });
    let volumes: Vec<_> = foreign.map(|volume| (**volume).clone()).collect();
    let classes: Vec<_> = mirror.classes.values().map(|class| (**class).clone()).collect();
    let seen = Seen { volumes: &volumes, classes: &classes, ..Seen::default() };
    let is_sold = |class: &&Arc<StorageClass>| {
        let labels = class.metadata.labels.as_ref();
        labels.is_some_and(|found| found.get(labels::MANAGED).is_some_and(|it| it == labels::TRUE))
    };
    let sold = mirror.classes.values().filter(is_sold);
    let sold: Vec<String> = sold.filter_map(|class| class.metadata.name.clone()).collect();
    let capacity = sold.iter().filter_map(|class| Some((class.clone(), capacity(mirror, class)?)));
    let known = Known { capacity: capacity.collect(), ..Known::default() };
    let settings = Settings { storage_classes: sold.clone(), ..settings.clone() };
    observe::view(&seen, &known, &settings).storage
}

/// What volumes of a class can have in all, where the cluster itself says so: volumes that are
/// folders on nodes take of what the nodes have. `None` for all others.
fn capacity(mirror: &Mirror, class: &str) -> Option<i64> {
    if mirror.classes.get(class)?.provisioner != LOCAL_PATH {
        return None;
    }
    let label = labels::node_storage_class(class);
    let nodes = mirror.nodes.values().filter(|node| {
        let count = node.metadata.labels.as_ref().and_then(|labels| labels.get(&label));
        count.and_then(|count| count.parse().ok()).unwrap_or(0_i64) > 0
    });
    let sizes = nodes.filter_map(|node| {
        let allocatable = node.status.as_ref()?.allocatable.as_ref()?;
        observe::whole(&allocatable.get("ephemeral-storage")?.0)
    });
    Some(sizes.fold(0, i64::saturating_add))
}

/// Whether the provider remembers that it is in maintenance.
pub(crate) fn maintenance(mirror: &Mirror) -> bool {
    let memory = mirror.memory().map(|memory| memory.json(Kind::CONFIG_MAP));
    let value = memory.and_then(|memory| {
        Some(memory.pointer("/data")?.get(MAINTENANCE)?.as_str()? == labels::TRUE)
    });
    value.unwrap_or_default()
}

/// Everything.
pub(crate) fn whole(mirror: &Mirror, settings: &Settings) -> ClusterView {
    ClusterView {
        uid: mirror.uid.clone(),
        nodes: mirror
            .nodes
            .keys()
            .filter_map(|name| Some((Name::from(&**name), node(mirror, name, settings)?)))
            .collect(),
        storage: storage(mirror, settings),
        ips: None,
        ports: settings.node_ports,
        leases: mirror.drawers.keys().filter_map(|name| lease(mirror, name, settings)).collect(),
        maintenance: maintenance(mirror),
    }
}
