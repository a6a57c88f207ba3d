use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use provider_crd::{labels, names};
use provider_engine::cluster::view::Condition;
use serde_json::{Value, json};

use super::mirror::Mirror;
use super::{Shown, pieces};
use crate::client::Kind;
use crate::settings::Settings;

const LEASE: &str = "akash15745vczur53teyxl4k05u250tfvp0lvdcfqx27/5950031/1/1/akash1xmz9es9ay9ln9x2m3q8dlu0alxf0ltce7ykjfx";

fn namespace() -> String {
    names::lease_namespace(&LEASE.parse().unwrap())
}

fn shown(version: u64, mut object: Value) -> Shown {
    object["metadata"]["resourceVersion"] = version.to_string().into();
    Shown::new(object).unwrap()
}

fn lease_namespace(version: u64) -> Shown {
    let name = namespace();
    let mut labels = labels::base(&name, "1");
    labels.append(&mut labels::lease(&LEASE.parse().unwrap()));
    shown(version, json!({"metadata": {"name": name, "uid": "n", "labels": labels}}))
}

fn host(version: u64, name: &str, dseq: u64) -> Shown {
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

fn clean(mirror: &mut Mirror) -> super::mirror::Dirty {
    std::mem::take(&mut mirror.dirty)
}

#[test]
fn a_pod_costs_work_for_its_lease_or_for_its_node() {
    let mut mirror = Mirror::default();
    mirror.told(Kind::NAMESPACE, lease_namespace(1));
    clean(&mut mirror);
    mirror.told_pod(&pod(&namespace(), "web-1", "a"));
    let dirty = clean(&mut mirror);
    assert_eq!((dirty.leases.len(), dirty.nodes.len()), (1, 0));
    mirror.told_pod(&pod("kube-system", "dns", "a"));
    let dirty = clean(&mut mirror);
    assert_eq!((dirty.leases.len(), dirty.nodes.into_iter().collect()), (0, vec!["a".to_owned()]));
}

#[test]
fn pods_count_for_the_lease_that_their_namespace_turns_out_to_be_of() {
    let settings = Settings::default();
    let mut mirror = Mirror::default();
    mirror.told_node("a", Some(node("a")));
    mirror.told_pod(&pod(&namespace(), "web-1", "a"));
    let others = |mirror: &Mirror| pieces::node(mirror, "a", &settings).unwrap().others.cpu_milli;
    assert_eq!(others(&mirror), 100);
    clean(&mut mirror);
    mirror.told(Kind::NAMESPACE, lease_namespace(1));
    assert!(mirror.dirty.nodes.contains("a"));
    assert_eq!(others(&mirror), 0);
    let (_, view) = pieces::lease(&mirror, &namespace(), &settings).unwrap();
    assert_eq!(view.replicas.len(), 1);
    assert_eq!(view.replicas[0].condition, Condition::Ready);
    // With the namespace goes the lease; the pod is somebody's still.
    mirror.told_gone(Kind::NAMESPACE, &lease_namespace(2));
    assert_eq!(pieces::lease(&mirror, &namespace(), &settings), None);
    assert_eq!(others(&mirror), 100);
    mirror.told_pod_gone(&pod(&namespace(), "web-1", "a"));
    assert_eq!(others(&mirror), 0);
}

#[test]
fn what_was_written_is_there_before_a_watch_tells_and_stays() {
    let mut mirror = Mirror::default();
    mirror.wrote(Kind::NAMESPACE, lease_namespace(5));
    let there = |mirror: &Mirror| mirror.drawer(&namespace()).is_some();
    assert!(there(&mirror));
    // A list that was on its way does not know it yet.
    mirror.told_all(Kind::NAMESPACE, vec![]);
    assert!(there(&mirror));
    // Once told, the next list without it means that it is gone.
    mirror.told(Kind::NAMESPACE, lease_namespace(5));
    mirror.told_all(Kind::NAMESPACE, vec![]);
    assert!(!there(&mirror));
}

#[test]
fn news_of_a_write_that_come_after_the_end_of_the_object_are_late() {
    let mut mirror = Mirror::default();
    mirror.told(Kind::NAMESPACE, lease_namespace(5));
    mirror.told_gone(Kind::NAMESPACE, &lease_namespace(6));
    mirror.wrote(Kind::NAMESPACE, lease_namespace(5));
    assert!(mirror.drawer(&namespace()).is_none());
}

#[test]
fn what_is_older_than_what_is_there_changes_nothing() {
    let mut mirror = Mirror::default();
    mirror.wrote(Kind::NAMESPACE, lease_namespace(9));
    mirror.told(Kind::NAMESPACE, lease_namespace(7));
    let drawer = mirror.drawer(&namespace()).unwrap();
    assert_eq!(drawer.of(Kind::NAMESPACE).next().unwrap().version, "9");
    mirror.told_gone(Kind::NAMESPACE, &lease_namespace(8));
    assert!(mirror.drawer(&namespace()).is_some(), "it was made again since");
}

#[test]
fn a_hostname_moves_with_its_lease() {
    let mut mirror = Mirror::default();
    mirror.told(Kind::HOST, host(1, "a.example", 5_950_031));
    mirror.told(Kind::HOST, host(2, "a.example", 77));
    assert!(mirror.get(Kind::HOST, &namespace(), "a.example").is_none());
    assert_eq!(mirror.named(Kind::HOST, "a.example").unwrap().version, "2");
    assert!(mirror.dirty.leases.contains(&namespace()), "the lease that lost it is looked at");
    mirror.told_gone(Kind::HOST, &host(3, "a.example", 77));
    assert!(mirror.named(Kind::HOST, "a.example").is_none());
}

#[test]
fn maintenance_is_what_the_memory_says() {
    let memory = |version, on: &str| {
        let metadata = json!({"name": "akash-provider-memory", "namespace": "lease"});
        shown(version, json!({"metadata": metadata, "data": {"maintenance": on}}))
    };
    let mut mirror = Mirror::default();
    assert!(!pieces::maintenance(&mirror));
    mirror.told(Kind::CONFIG_MAP, memory(1, "true"));
    assert!(pieces::maintenance(&mirror));
    mirror.told(Kind::CONFIG_MAP, memory(2, "false"));
    assert!(!pieces::maintenance(&mirror));
    mirror.told(Kind::CONFIG_MAP, memory(3, "true"));
    mirror.told_all(Kind::CONFIG_MAP, vec![]);
    assert!(!pieces::maintenance(&mirror));
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
    let volume = |namespace: &str| {
        let volume = json!({"metadata": {"name": namespace}, "spec": {
            "capacity": {"storage": "30"}, "storageClassName": "beta1",
            "claimRef": {"namespace": namespace, "name": "x"},
        }});
        Some(Arc::new(serde_json::from_value(volume).unwrap()))
    };
    let mut mirror = Mirror::default();
    mirror.told(Kind::NAMESPACE, lease_namespace(1));
    clean(&mut mirror);
    mirror.told_node("a", Some(Arc::new(serde_json::from_value(node).unwrap())));
    assert!(mirror.dirty.storage);
    mirror.told_class("beta1", class("beta1", "rancher.io/local-path", "true"));
    mirror.told_class("beta2", class("beta2", "rook-ceph.rbd.csi.ceph.com", "true"));
    mirror.told_class("beta3", class("beta3", "rancher.io/local-path", "false"));
    mirror.told_volume(&namespace(), volume(&namespace()));
    mirror.told_volume("others", volume("others"));
    let storage = pieces::storage(&mirror, &Settings::default());
    let found: Vec<_> =
        storage.iter().map(|(name, class)| (&**name, class.allocatable, class.others)).collect();
    assert_eq!(found, [("beta1", 100, 30)]);
}
