//! What the engine sees of a lease, of a node and of the rest, from what was shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use akash_types::hostname::generated_under;
use akash_types::{CpuArch, LeaseId};
use k8s_openapi::api::core::v1::{Node, PersistentVolume, Pod};
use k8s_openapi::api::storage::v1::StorageClass;
use k8s_openapi::jiff::Timestamp;
use kube_access::{CachedObject, ResourceKind};
use provider_crd::labels;
use provider_engine::cluster::view::{
    self, ClusterView, LeaseView, Name, NodeArch, PortPool, StoragePlace,
};

use super::cache::ObjectCache;
use super::ceph;
use super::namespace::NamespaceEntry;
use crate::apply::stale;
use crate::build::{self, Object};
use crate::observe::{self, Capacity, Known, Seen, carry_revision, is_written, node_ports};
use crate::resolve::Lease;
use crate::settings::Settings;
use crate::template::keep_settings;

/// Key of the provider's memory under which maintenance is kept.
pub(crate) const MAINTENANCE: &str = "maintenance";
/// What makes volumes of folders on nodes.
const LOCAL_PATH: &str = "rancher.io/local-path";

pub(crate) fn lease(
    cache: &ObjectCache,
    namespace: &str,
    settings: &Settings,
) -> Option<(LeaseId, LeaseView)> {
    let entry = cache.entry(namespace)?;
    let id = entry.lease?;
    let known = Known {
        deployed: is_deployed(entry, settings).then_some(id).into_iter().collect(),
        ..Known::default()
    };
    let pods: Vec<Pod> = entry.pods.values().map(|pod| Pod::clone(pod)).collect();
    let seen = Seen {
        pods: &pods,
        namespaces: &entry.typed(ResourceKind::NAMESPACE),
        claims: &entry.typed(ResourceKind::CLAIM),
        manifests: &entry.typed(ResourceKind::MANIFEST),
        hosts: &entry.typed(ResourceKind::HOST),
        leased_ips: &entry.typed(ResourceKind::LEASED_IP),
        services: &entry.typed(ResourceKind::SERVICE),
        ..Seen::default()
    };
    let mut view = observe::view(&seen, &known, settings);
    Some((id, view.leases.remove(&id)?))
}

/// Whether everything of the lease was written from the `Manifest` that is there: it carries that
/// one's revision, or nothing is to be written and nothing to be removed.
pub(crate) fn is_deployed(entry: &NamespaceEntry, settings: &Settings) -> bool {
    if entry.of(ResourceKind::NAMESPACE).next().is_none() {
        return false;
    }
    let lease = entry.manifest().and_then(|manifest| Lease::of(&manifest).ok());
    lease.is_some_and(|lease| is_all_written(entry, &lease, settings).unwrap_or_default())
}

fn is_all_written(entry: &NamespaceEntry, lease: &Lease, settings: &Settings) -> Option<bool> {
    let objects = build::workload(lease, settings).ok()?;
    let there = |kind: &str, name: &str| entry.get(ResourceKind::named(kind)?, name);
    if carry_revision(&objects, |kind, name| there(kind, name).map(|shown| &shown.labels)) {
        return Some(true);
    }
    // Compared with what the lease was created with: new leases may be confined otherwise.
    let isolation = settings.isolation.of_lease(entry.namespace().as_ref());
    let generated_hosts = generated_hosts(entry, lease, settings);
    let settings = &Settings { isolation, generated_hosts, ..settings.clone() };
    let mut objects = build::workload(lease, settings).ok()?;
    let json = |kind: &str, name: &str| entry.json(kind, name);
    keep_settings(lease, &mut objects, json);
    let hosts = build::hosts(lease, settings, &[], Timestamp::default());
    objects.extend(hosts.into_iter().map(Object::from));
    objects.extend(build::leased_ips(lease, settings).ok()?.into_iter().map(Object::from));
    Some(is_written(&objects, json) && stale(entry, lease, &objects, &[], settings).is_empty())
}

/// The domain of the hostnames that the lease got without asking, which may be that of an earlier
/// setting; the current one if it got none.
fn generated_hosts(entry: &NamespaceEntry, lease: &Lease, settings: &Settings) -> Option<String> {
    let domain = |shown: &Arc<CachedObject>| {
        let mut services = lease.services.iter();
        let domain = services.find_map(|it| generated_under(lease.id, it.name(), &shown.name));
        domain.map(str::to_owned)
    };
    let current = settings.generated_hosts.as_ref()?;
    let found: Vec<String> = entry.of(ResourceKind::HOST).filter_map(domain).collect();
    if found.contains(current) {
        Some(current.clone())
    } else {
        found.into_iter().next().or_else(|| Some(current.clone()))
    }
}

/// A node, with what pods on it ask for that are not of leases.
pub(crate) fn node(cache: &ObjectCache, name: &str, settings: &Settings) -> Option<view::Node> {
    let node = cache.nodes.get(name)?;
    let on = cache.on_node.get(name).into_iter().flatten();
    let others = on.filter_map(|(namespace, name)| {
        let entry = cache.entry(namespace)?;
        let pod = entry.pods.get(name)?;
        (!entry.is_replica(pod)).then(|| Pod::clone(pod))
    });
    let pods: Vec<Pod> = others.collect();
    let volumes = cache.volumes_on_node.get(name).into_iter().flatten();
    let volumes: Vec<_> = volumes
        .filter_map(|volume| cache.volumes.get(volume))
        .filter(|volume| !is_leased(cache, volume))
        .map(|volume| (**volume).clone())
        .collect();
    let nodes = [Node::clone(node)];
    let seen = Seen { nodes: &nodes, pods: &pods, volumes: &volumes, ..Seen::default() };
    let capacity =
        cache.classes.keys().filter(|class| is_on_disks(cache, class, settings)).map(|class| {
            (class.clone(), Capacity { place: StoragePlace::NodeDisk, ..Capacity::default() })
        });
    let known = Known { capacity: capacity.collect(), ..Known::default() };
    observe::view(&seen, &known, settings).nodes.remove(name)
}

/// Whether nodes that workloads may run on have different architectures.
pub(crate) fn has_mixed_architectures(cache: &ObjectCache) -> bool {
    let is_managed = |node: &&Arc<Node>| {
        let labels = node.metadata.labels.as_ref();
        labels.is_some_and(|found| found.get(labels::MANAGED).is_some_and(|it| it == labels::TRUE))
    };
    // A node that reports none serves orders for amd64.
    let arch = |node: &Arc<Node>| match observe::node::arch(node) {
        NodeArch::Unreported => NodeArch::Known(CpuArch::default()),
        reported => reported,
    };
    let mut found = cache.nodes.values().filter(is_managed).map(arch);
    found.next().is_some_and(|first| found.any(|other| other != first))
}

/// Persistent storage by class: of the classes that carry our label.
pub(crate) fn storage(
    cache: &ObjectCache,
    settings: &Settings,
) -> BTreeMap<Name, view::StorageClass> {
    let foreign = cache.volumes.values().filter(|volume| !is_leased(cache, volume));
    let volumes: Vec<_> = foreign.map(|volume| (**volume).clone()).collect();
    let classes: Vec<_> = cache.classes.values().map(|class| (**class).clone()).collect();
    let seen = Seen { volumes: &volumes, classes: &classes, ..Seen::default() };
    let is_sold = |class: &&Arc<StorageClass>| {
        let labels = class.metadata.labels.as_ref();
        labels.is_some_and(|found| found.get(labels::MANAGED).is_some_and(|it| it == labels::TRUE))
    };
    let sold = cache.classes.values().filter(is_sold);
    let sold: Vec<String> = sold.filter_map(|class| class.metadata.name.clone()).collect();
    let mut known = Known::default();
    for class in &sold {
        match capacity(cache, class, settings) {
            Ok(capacity) => drop(known.capacity.insert(class.clone(), capacity)),
            Err(why) => drop(known.without_capacity.insert(class.clone(), why)),
        }
    }
    let settings = Settings { storage_classes: sold, ..settings.clone() };
    observe::view(&seen, &known, &settings).storage
}

/// Whether a volume is of a lease.
fn is_leased(cache: &ObjectCache, volume: &PersistentVolume) -> bool {
    let claim = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref());
    let namespace = claim.and_then(|claim| claim.namespace.as_ref());
    let entry = namespace.and_then(|namespace| cache.entry(namespace));
    entry.is_some_and(|entry| entry.lease.is_some())
}

/// Whether volumes of a class are folders on the disks of nodes that pods use too. With a declared
/// capacity they are elsewhere.
fn is_on_disks(cache: &ObjectCache, class: &str, settings: &Settings) -> bool {
    !settings.storage_capacity.contains_key(class)
        && cache.classes.get(class).is_some_and(|class| class.provisioner == LOCAL_PATH)
}

/// What volumes of a class can have in all: what the operator declared, else what the cluster itself
/// says; why it does not say if it does not. Volumes that are folders on nodes take of what the nodes
/// have.
fn capacity(cache: &ObjectCache, class: &str, settings: &Settings) -> Result<Capacity, String> {
    if let Some(bytes) = settings.storage_capacity.get(class) {
        return Ok(Capacity { bytes: *bytes, ..Capacity::default() });
    }
    let found = cache.classes.get(class);
    if let Some((cluster, pool)) = found.and_then(|class| ceph::pool(class)) {
        return ceph_capacity(cache, cluster, pool);
    }
    if !is_on_disks(cache, class, settings) {
        let provisioner = found.map(|class| &*class.provisioner).unwrap_or_default();
        return Err(format!(
            "{provisioner} does not say how much there is: set storage-capacity {class}=SIZE"
        ));
    }
    let label = labels::node_storage_class(class);
    let nodes = cache.nodes.values().filter(|node| {
        let count = node.metadata.labels.as_ref().and_then(|labels| labels.get(&label));
        count.and_then(|count| count.parse().ok()).unwrap_or(0_i64) > 0
    });
    let sizes = nodes.filter_map(|node| {
        let allocatable = node.status.as_ref()?.allocatable.as_ref()?;
        observe::whole(&allocatable.get("ephemeral-storage")?.0)
    });
    let bytes = sizes.fold(0, i64::saturating_add);
    Ok(Capacity { bytes, place: StoragePlace::NodeDisk, disks: None })
}

fn ceph_capacity(
    cache: &ObjectCache,
    cluster: &str,
    pool: Option<&str>,
) -> Result<Capacity, String> {
    let pool = pool.ok_or("the class names no pool")?;
    let reading = cache.ceph.get(cluster);
    let unread = || {
        let problem = reading.and_then(|reading| reading.problem.clone());
        let problem = problem.unwrap_or_else(|| "they were not read yet".to_owned());
        format!("the pools of the Ceph cluster {cluster} are not known: {problem}")
    };
    let pools = reading.and_then(|reading| reading.pools.as_ref()).ok_or_else(unread)?;
    // What volumes of all classes have, ours or not, in each pool.
    let mut volumes = BTreeMap::<String, i64>::new();
    for volume in cache.volumes.values() {
        let class = observe::storage::class_of(volume).and_then(|class| cache.classes.get(class));
        if let Some((of, Some(pool))) = class.and_then(|class| ceph::pool(class))
            && of == cluster
        {
            let sum = volumes.entry(pool.to_owned()).or_default();
            *sum = sum.saturating_add(observe::storage::size(volume));
        }
    }
    let (bytes, disks) = pools
        .capacity(cluster, pool, &volumes)
        .ok_or_else(|| format!("the Ceph cluster {cluster} has no pool {pool}"))?;
    Ok(Capacity { bytes, place: StoragePlace::Shared, disks: Some(disks) })
}

/// Ports that can be opened on nodes, and those that services have which are not of leases.
pub(crate) fn ports(cache: &ObjectCache) -> PortPool {
    let range = cache.port_range.clone().unwrap_or(node_ports::DEFAULT_RANGE);
    let others: BTreeSet<i32> = cache.other_ports.values().flatten().copied().collect();
    // A port may have been given before the range was another one.
    let others =
        others.iter().filter(|port| u16::try_from(**port).is_ok_and(|it| range.contains(&it)));
    PortPool { total: range.len() as u64, others: others.count() as u64 }
}

/// Whether the provider remembers that it is in maintenance.
pub(crate) fn maintenance(cache: &ObjectCache) -> bool {
    let memory = cache.memory().map(|memory| memory.json(ResourceKind::CONFIG_MAP));
    let value = memory.and_then(|memory| {
        Some(memory.pointer("/data")?.get(MAINTENANCE)?.as_str()? == labels::TRUE)
    });
    value.unwrap_or_default()
}

pub(crate) fn whole(cache: &ObjectCache, settings: &Settings) -> ClusterView {
    ClusterView {
        uid: cache.uid.clone(),
        nodes: cache
            .nodes
            .keys()
            .filter_map(|name| Some((Name::from(&**name), node(cache, name, settings)?)))
            .collect(),
        storage: storage(cache, settings),
        ips: None,
        ports: Some(ports(cache)),
        leases: cache.namespaces.keys().filter_map(|name| lease(cache, name, settings)).collect(),
        maintenance: maintenance(cache),
    }
}
