use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use kube_access::ResourceKind;
use provider_crd::{labels, names};
use provider_engine::cluster::view::Condition;
use serde_json::{Value, json};

use super::cache::ObjectCache;
use super::{CachedObject, parts};
use crate::settings::Settings;

const LEASE: &str = "akash15745vczur53teyxl4k05u250tfvp0lvdcfqx27/5950031/1/1/akash1xmz9es9ay9ln9x2m3q8dlu0alxf0ltce7ykjfx";

fn namespace() -> String {
    names::lease_namespace(&LEASE.parse().unwrap())
}

fn shown(version: u64, mut object: Value) -> CachedObject {
    object["metadata"]["resourceVersion"] = version.to_string().into();
    CachedObject::new(object).unwrap()
}

fn lease_namespace(version: u64) -> CachedObject {
    let name = namespace();
    let mut labels = labels::base(&name, "1");
    labels.append(&mut labels::lease(&LEASE.parse().unwrap()));
    shown(version, json!({"metadata": {"name": name, "uid": "n", "labels": labels}}))
}

fn host(version: u64, name: &str, dseq: u64) -> CachedObject {
    let parts: Vec<&str> = LEASE.split('/').collect();
    shown(
        version,
        json!({
            "metadata": {"name": name, "namespace": "lease", "uid": name},
            "spec": {"owner": parts[0], "dseq": dseq, "gseq": 1, "oseq": 1, "provider": parts[4],
                "hostname": name, "service_name": "web", "external_port": 80},
        }),
    )
}

fn pod(namespace: &str, name: &str, node: &str) -> Arc<Pod> {
    let pod = json!({
        "metadata": {"namespace": namespace, "name": name, "uid": name,
            "labels": {"akash.network/manifest-service": "web"}},
        "spec": {"nodeName": node, "containers": [{"name": "web",
            "resources": {"requests": {"cpu": "100m"}}}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    });
    Arc::new(serde_json::from_value(pod).unwrap())
}

fn node(name: &str) -> Arc<k8s_openapi::api::core::v1::Node> {
    let node = json!({"metadata": {"name": name}, "status": {"allocatable": {"cpu": "4"}}});
    Arc::new(serde_json::from_value(node).unwrap())
}

fn clean(cache: &mut ObjectCache) -> super::cache::Dirty {
    std::mem::take(&mut cache.dirty)
}

#[test]
fn a_pod_costs_work_for_its_lease_or_for_its_node() {
    let mut cache = ObjectCache::default();
    cache.applied(ResourceKind::NAMESPACE, lease_namespace(1));
    clean(&mut cache);
    cache.pod_applied(&pod(&namespace(), "web-1", "a"));
    let dirty = clean(&mut cache);
    assert_eq!((dirty.leases.len(), dirty.nodes.len()), (1, 0));
    cache.pod_applied(&pod("kube-system", "dns", "a"));
    let dirty = clean(&mut cache);
    assert_eq!((dirty.leases.len(), dirty.nodes.into_iter().collect()), (0, vec!["a".to_owned()]));
}

#[test]
fn pods_count_for_the_lease_that_their_namespace_turns_out_to_be_of() {
    let settings = Settings::default();
    let mut cache = ObjectCache::default();
    cache.set_node("a", Some(node("a")));
    cache.pod_applied(&pod(&namespace(), "web-1", "a"));
    let others = |cache: &ObjectCache| parts::node(cache, "a", &settings).unwrap().others.cpu_milli;
    assert_eq!(others(&cache), 100);
    clean(&mut cache);
    cache.applied(ResourceKind::NAMESPACE, lease_namespace(1));
    assert!(cache.dirty.nodes.contains("a"));
    assert_eq!(others(&cache), 0);
    let (_, view) = parts::lease(&cache, &namespace(), &settings).unwrap();
    assert_eq!(view.replicas.len(), 1);
    assert_eq!(view.replicas[0].condition, Condition::Ready);
    // With the namespace goes the lease; the pod is somebody's still.
    cache.deleted(ResourceKind::NAMESPACE, &lease_namespace(2));
    assert_eq!(parts::lease(&cache, &namespace(), &settings), None);
    assert_eq!(others(&cache), 100);
    cache.pod_deleted(&pod(&namespace(), "web-1", "a"));
    assert_eq!(others(&cache), 0);
}

#[test]
fn what_was_written_is_there_before_a_watch_tells_and_stays() {
    let mut cache = ObjectCache::default();
    cache.wrote(ResourceKind::NAMESPACE, lease_namespace(5));
    let there = |cache: &ObjectCache| cache.entry(&namespace()).is_some();
    assert!(there(&cache));
    // A list that was on its way does not know it yet.
    cache.synced(ResourceKind::NAMESPACE, vec![]);
    assert!(there(&cache));
    // Once told, the next list without it means that it is gone.
    cache.applied(ResourceKind::NAMESPACE, lease_namespace(5));
    cache.synced(ResourceKind::NAMESPACE, vec![]);
    assert!(!there(&cache));
}

#[test]
fn news_of_a_write_that_come_after_the_end_of_the_object_are_late() {
    let mut cache = ObjectCache::default();
    cache.applied(ResourceKind::NAMESPACE, lease_namespace(5));
    cache.deleted(ResourceKind::NAMESPACE, &lease_namespace(6));
    cache.wrote(ResourceKind::NAMESPACE, lease_namespace(5));
    assert!(cache.entry(&namespace()).is_none());
}

#[test]
fn what_is_older_than_what_is_there_changes_nothing() {
    let mut cache = ObjectCache::default();
    cache.wrote(ResourceKind::NAMESPACE, lease_namespace(9));
    cache.applied(ResourceKind::NAMESPACE, lease_namespace(7));
    let entry = cache.entry(&namespace()).unwrap();
    assert_eq!(entry.of(ResourceKind::NAMESPACE).next().unwrap().version, "9");
    cache.deleted(ResourceKind::NAMESPACE, &lease_namespace(8));
    assert!(cache.entry(&namespace()).is_some(), "it was made again since");
}

#[test]
fn a_hostname_moves_with_its_lease() {
    let mut cache = ObjectCache::default();
    cache.applied(ResourceKind::HOST, host(1, "a.example", 5_950_031));
    cache.applied(ResourceKind::HOST, host(2, "a.example", 77));
    assert!(cache.get(ResourceKind::HOST, &namespace(), "a.example").is_none());
    assert_eq!(cache.named(ResourceKind::HOST, "a.example").unwrap().version, "2");
    assert!(cache.dirty.leases.contains(&namespace()), "the lease that lost it is looked at");
    cache.deleted(ResourceKind::HOST, &host(3, "a.example", 77));
    assert!(cache.named(ResourceKind::HOST, "a.example").is_none());
}

#[test]
fn maintenance_is_what_the_memory_says() {
    let memory = |version, on: &str| {
        let metadata = json!({"name": "akash-provider-memory", "namespace": "lease"});
        shown(version, json!({"metadata": metadata, "data": {"maintenance": on}}))
    };
    let mut cache = ObjectCache::default();
    assert!(!parts::maintenance(&cache));
    cache.applied(ResourceKind::CONFIG_MAP, memory(1, "true"));
    assert!(parts::maintenance(&cache));
    cache.applied(ResourceKind::CONFIG_MAP, memory(2, "false"));
    assert!(!parts::maintenance(&cache));
    cache.applied(ResourceKind::CONFIG_MAP, memory(3, "true"));
    cache.synced(ResourceKind::CONFIG_MAP, vec![]);
    assert!(!parts::maintenance(&cache));
}

#[test]
fn storage_that_is_folders_on_nodes_is_sold_as_far_as_nodes_have_it() {
    let node = json!({
        "metadata": {"name": "a", "labels": {(labels::node_storage_class("beta1")): "1"}},
        "status": {"allocatable": {"ephemeral-storage": "100"}},
    });
    let class = |name: &str, provisioner: &str, ours: &str| {
        let class = json!({
            "metadata": {"name": name, "labels": {(labels::MANAGED): ours}},
            "provisioner": provisioner,
        });
        Some(Arc::new(serde_json::from_value(class).unwrap()))
    };
    let volume = |namespace: &str, node: &str| {
        let here = json!({"key": "kubernetes.io/hostname", "operator": "In", "values": [node]});
        let volume = json!({"metadata": {"name": namespace}, "spec": {
            "capacity": {"storage": "30"}, "storageClassName": "beta1",
            "claimRef": {"namespace": namespace, "name": "x"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
        }});
        Some(Arc::new(serde_json::from_value(volume).unwrap()))
    };
    let mut cache = ObjectCache::default();
    cache.applied(ResourceKind::NAMESPACE, lease_namespace(1));
    clean(&mut cache);
    cache.set_node("a", Some(Arc::new(serde_json::from_value(node).unwrap())));
    assert!(cache.dirty.storage);
    cache.set_class("beta1", class("beta1", "rancher.io/local-path", "true"));
    cache.set_class("beta2", class("beta2", "rook-ceph.rbd.csi.ceph.com", "true"));
    cache.set_class("beta3", class("beta3", "rancher.io/local-path", "false"));
    clean(&mut cache);
    cache.set_volume(&namespace(), volume(&namespace(), "a"));
    cache.set_volume("others", volume("others", "a"));
    assert!(cache.dirty.nodes.contains("a"));
    cache.set_volume("elsewhere", volume("elsewhere", "b"));
    let settings = Settings::default();
    let storage = parts::storage(&cache, &settings);
    let found: Vec<_> = storage
        .iter()
        .map(|(name, class)| (&**name, class.allocatable, class.others, class.unsold.as_deref()))
        .collect();
    let ceph = "rook-ceph.rbd.csi.ceph.com does not say how much there is: set storage-capacity \
                beta2=SIZE";
    let unlabelled = "label akash.network is not \"true\"";
    assert_eq!(
        found,
        [("beta1", 100, 0, None), ("beta2", 0, 0, Some(ceph)), ("beta3", 0, 0, Some(unlabelled)),]
    );
    // What others have counts on its node, once, and no more when it is gone.
    let others = |cache: &ObjectCache| parts::node(cache, "a", &settings).unwrap().others.ephemeral;
    assert_eq!(others(&cache), 30);
    cache.set_volume("others", None);
    assert_eq!(others(&cache), 0);
    // With a declared capacity the volumes are elsewhere.
    let storage_capacity = [("beta1".to_owned(), 1000)].into();
    let declared = Settings { storage_capacity, ..Settings::default() };
    cache.set_volume("others", volume("others", "a"));
    let class = &parts::storage(&cache, &declared)["beta1"];
    assert_eq!((class.allocatable, class.others), (1000, 60));
    assert_eq!(parts::node(&cache, "a", &declared).unwrap().others.ephemeral, 0);
}

#[test]
fn classes_of_ceph_are_sold_by_what_was_read_of_their_pools() {
    let class = |pool: &str| {
        let class = json!({
            "metadata": {"labels": {(labels::MANAGED): "true"}},
            "provisioner": "rook-ceph.rbd.csi.ceph.com",
            "parameters": {"clusterID": "rook-ceph", "pool": pool},
        });
        let mut class: k8s_openapi::api::storage::v1::StorageClass =
            serde_json::from_value(class).unwrap();
        class.metadata.name = Some(pool.to_owned());
        Some(Arc::new(class))
    };
    let mut cache = ObjectCache::default();
    cache.set_class("fast", class("fast"));
    cache.set_class("gone", class("gone"));
    let unsold = |cache: &ObjectCache, name: &str| {
        parts::storage(cache, &Settings::default())[name].unsold.as_deref().map(str::to_owned)
    };
    assert_eq!(
        unsold(&cache, "fast").as_deref(),
        Some("the pools of the Ceph cluster rook-ceph are not known: they were not read yet")
    );
    clean(&mut cache);
    let metrics = "ceph_osd_up{ceph_daemon=\"osd.0\"} 1.0\n\
                   ceph_pool_metadata{pool_id=\"1\",name=\"fast\",description=\"replica:2\"} 1.0\n\
                   ceph_pool_max_avail{pool_id=\"1\"} 700.0\nceph_pool_stored{pool_id=\"1\"} 50.0\n";
    let pools = crate::observe::ceph::Pools::read(metrics).map_err(|error| error.to_string());
    let now = tokio::time::Instant::now();
    assert_eq!(cache.ceph_was_read("rook-ceph", pools, now), None);
    assert!(cache.dirty.storage);
    let sold = &parts::storage(&cache, &Settings::default())["fast"];
    assert_eq!((sold.allocatable, sold.unsold.as_deref()), (700, None));
    assert_eq!(
        unsold(&cache, "gone").as_deref(),
        Some("the Ceph cluster rook-ceph has no pool gone")
    );
}

#[test]
fn a_node_without_an_architecture_is_none_of_its_own() {
    let node = |name: &str, arch: Option<&str>| {
        let mut labels = serde_json::Map::from_iter([(labels::MANAGED.to_owned(), json!("true"))]);
        labels.extend(arch.map(|arch| (labels::NODE_ARCH.to_owned(), json!(arch))));
        let node = json!({"metadata": {"name": name, "labels": labels}});
        Some(Arc::new(serde_json::from_value(node).unwrap()))
    };
    let mut cache = ObjectCache::default();
    cache.set_node("a", node("a", Some("amd64")));
    cache.set_node("b", node("b", None));
    // Otherwise pods would be kept to one, by another template, and restart.
    assert!(!parts::has_mixed_architectures(&cache));
    cache.set_node("c", node("c", Some("arm64")));
    assert!(parts::has_mixed_architectures(&cache));
}
