use std::collections::BTreeMap;

use provider_engine::cluster::view::{
    self, Amounts, CardState, Condition, GpuCard, Name, StoragePlace,
};
use serde_json::{Value, json};

use super::*;

const LEASE: &str = "akash15745vczur53teyxl4k05u250tfvp0lvdcfqx27/5950031/1/1/akash1xmz9es9ay9ln9x2m3q8dlu0alxf0ltce7ykjfx";
const NAMESPACE: &str = "h644k9qp92e0qeakjsjkk8f3piivkuhgc6baon9tccuqo";

fn pod(uid: &str, namespace: &str, spec: Value, status: Value) -> Pod {
    let object = json!({
        "metadata": {
            "name": uid,
            "uid": uid,
            "namespace": namespace,
            "labels": {"akash.network": "true", "akash.network/manifest-service": "web"},
        },
        "spec": spec,
        "status": status,
    });
    serde_json::from_value(object).unwrap()
}

fn container(cpu: &str, memory: &str) -> Value {
    json!({"name": "c", "resources": {"requests": {"cpu": cpu, "memory": memory}}})
}

fn node() -> Node {
    let object = json!({
        "metadata": {
            "name": "n1",
            "labels": {
                "akash.network": "true",
                "akash.network/capabilities.storage.class.beta2": "1",
                "akash.network/capabilities.storage.class.beta3": "0",
                "akash.network/capabilities.gpu.vendor.nvidia.model.a100": "2",
                "akash.network/capabilities.gpu.vendor.nvidia.model.a100.ram.80Gi": "2",
            },
        },
        "status": {
            "allocatable": {"cpu": "8", "memory": "16Gi", "ephemeral-storage": "100G", "nvidia.com/gpu": "2"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    });
    serde_json::from_value(object).unwrap()
}

fn manifest() -> Manifest {
    let lease: LeaseId = LEASE.parse().unwrap();
    let object = json!({
        "metadata": {"name": NAMESPACE, "resourceVersion": "7"},
        "spec": {
            "lease_id": serde_json::to_value(provider_crd::LeaseRef::new(&lease)).unwrap(),
            "group": {"name": "g", "services": [{
                "name": "web",
                "count": 1,
                "resources": {
                    "id": 1,
                    "cpu": {"units": 100},
                    "gpu": {"units": 1, "attributes": [{"key": "vendor/nvidia/model/*", "value": "true"}]},
                    "memory": {"size": "1"},
                },
                "scheduler_params": {
                    "runtime_class": "nvidia",
                    "resources": {"gpu": {"vendor": "nvidia", "model": "a100"}},
                },
            }]},
        },
    });
    serde_json::from_value(object).unwrap()
}

fn lease() -> LeaseId {
    LEASE.parse().unwrap()
}

#[test]
fn a_pod_asks_for_what_the_scheduler_counts() {
    let asks = |spec: Value| {
        let Amounts { cpu_milli, memory, .. } = asks::of(&pod("p", "x", spec, json!({})));
        (cpu_milli, memory)
    };
    let init = |cpu: &str, memory: &str| container(cpu, memory);
    let sidecar = |cpu: &str, memory: &str| {
        let mut container = container(cpu, memory);
        container["restartPolicy"] = json!("Always");
        container
    };
    let two = json!([container("100m", "10"), container("200m", "20")]);
    // Containers run together.
    assert_eq!(asks(json!({"containers": two})), (300, 30));
    // A start that asks for more counts instead, each resource for itself.
    let spec = json!({"containers": two, "initContainers": [init("1", "5"), init("10m", "40")]});
    assert_eq!(asks(spec), (1000, 40));
    // A sidecar runs with the containers, and with the starts after it.
    let spec = json!({"containers": two, "initContainers": [
        init("350m", "1"), sidecar("50m", "7"), init("330m", "1"),
    ]});
    assert_eq!(asks(spec), (380, 37));
    // The runtime adds its own.
    let spec = json!({"containers": two, "overhead": {"cpu": "5m", "memory": "1Ki"}});
    assert_eq!(asks(spec), (305, 1054));
    // The pod as a whole wins over its containers.
    let spec = json!({"containers": two, "resources": {"requests": {"cpu": "2"}}});
    assert_eq!(asks(spec), (2000, 30));
}

#[test]
fn pods_of_others_are_counted_once_and_until_they_end() {
    let on_node = |cpu: &str| json!({"nodeName": "n1", "containers": [container(cpu, "1")]});
    let pods = [
        pod("a", "kube-system", on_node("100m"), json!({"phase": "Running"})),
        // The same pod listed twice, and another of the same name elsewhere.
        pod("a", "kube-system", on_node("100m"), json!({"phase": "Running"})),
        pod("b", "monitoring", on_node("20m"), json!({"phase": "Pending"})),
        pod("c", "kube-system", on_node("1"), json!({"phase": "Succeeded"})),
        pod("d", "kube-system", on_node("1"), json!({"phase": "Failed"})),
        pod("e", "kube-system", json!({"containers": [container("1", "1")]}), json!({})),
        pod("f", NAMESPACE, on_node("3"), json!({"phase": "Running"})),
    ];
    let (nodes, manifests) = ([node()], [manifest()]);
    let seen = Seen { nodes: &nodes, pods: &pods, manifests: &manifests, ..Seen::default() };
    let view = view(&seen, &Known::default(), &Settings::default());
    let node = &view.nodes["n1"];
    assert_eq!((node.others.cpu_milli, node.others.memory), (120, 2));
    let replicas = &view.leases[&lease()].replicas;
    assert_eq!(replicas.len(), 1);
    assert_eq!((replicas[0].asks.cpu_milli, replicas[0].node.as_deref()), (3000, Some("n1")));
}

#[test]
fn a_node_says_what_it_has() {
    let gpu = json!({"name": "c", "resources": {"requests": {"nvidia.com/gpu": "1"}}});
    let pods = [pod("x", "default", json!({"nodeName": "n1", "containers": [gpu]}), json!({}))];
    let nodes = [node()];
    let seen = Seen { nodes: &nodes, pods: &pods, ..Seen::default() };
    let view = view(&seen, &Known::default(), &Settings::default());
    let seen = &view.nodes["n1"];
    assert!(seen.schedulable());
    let allocatable =
        Amounts { cpu_milli: 8000, memory: 16 << 30, ephemeral: 100_000_000_000, gpu: 2 };
    assert_eq!(seen.allocatable, allocatable);
    assert_eq!(seen.storage_classes, [Name::from("beta2")]);
    let taken: Vec<_> = seen
        .cards
        .iter()
        .map(|GpuCard { model, memory_gib, state, .. }| (&**model, *memory_gib, state.clone()))
        .collect();
    let card = |state| ("a100", Some(80), state);
    assert_eq!(taken, [card(CardState::TakenByOthers), card(CardState::Usable)]);
}

/// `node()` with some of its fields replaced.
fn changed(change: &Value) -> view::Node {
    let mut object = serde_json::to_value(node()).unwrap();
    for (key, value) in change.as_object().unwrap() {
        object[key] = value.clone();
    }
    let nodes = [serde_json::from_value(object).unwrap()];
    let seen = Seen { nodes: &nodes, ..Seen::default() };
    view(&seen, &Known::default(), &Settings::default()).nodes["n1"].clone()
}

#[test]
fn a_node_that_pods_are_kept_away_from_says_why() {
    let conditions = json!([{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]);
    let unreachable = json!({"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"});
    let cordon = json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"});
    for (change, expected) in [
        (json!({}), &[][..]),
        (json!({"spec": {"unschedulable": true, "taints": [cordon]}}), &["cordoned"]),
        (
            json!({"spec": {"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]}}),
            &["taint a=b:NoSchedule"],
        ),
        (json!({"spec": {"taints": [{"key": "a", "effect": "PreferNoSchedule"}]}}), &[]),
        (
            json!({"spec": {"taints": [{"key": "a", "effect": "NoExecute"}]}}),
            &["taint a:NoExecute"],
        ),
        (
            json!({"status": {"conditions": conditions}, "spec": {"taints": [unreachable]}}),
            &["not ready: NodeStatusUnknown"],
        ),
        (json!({"status": {}}), &["not ready: no report"]),
        (
            json!({"metadata": {"name": "n1", "labels": {}}, "spec": {"unschedulable": true}}),
            &["label akash.network is not \"true\"", "cordoned"],
        ),
    ] {
        let node = changed(&change);
        let reasons: Vec<_> = node.exclusions.iter().map(ToString::to_string).collect();
        assert_eq!(reasons, expected, "{change}");
    }
}

/// Cards of a node whose plugins know (`capacity`) and offer (`allocatable`) so many, with labels
/// that count models, and other pods that have some.
fn cards_of(
    labels: &[(&str, &str)],
    plugins: &[(&str, &str, &str)],
    others: &[(&str, &str)],
) -> Vec<String> {
    let mut object = serde_json::to_value(node()).unwrap();
    object["metadata"]["labels"] = json!({"akash.network": "true"});
    for (model, count) in labels {
        let key = format!("akash.network/capabilities.gpu.vendor.{model}");
        object["metadata"]["labels"][key] = json!(count);
    }
    object["status"]["allocatable"] = json!({"cpu": "8"});
    object["status"]["capacity"] = json!({});
    for (resource, capacity, allocatable) in plugins {
        object["status"]["capacity"][resource] = json!(capacity);
        object["status"]["allocatable"][resource] = json!(allocatable);
    }
    let pods = others.iter().enumerate().map(|(index, (resource, count))| {
        let container = json!({"name": "c", "resources": {"requests": {*resource: count}}});
        let spec = json!({"nodeName": "n1", "containers": [container]});
        pod(&format!("p{index}"), "default", spec, json!({}))
    });
    let (nodes, pods) = ([serde_json::from_value(object).unwrap()], pods.collect::<Vec<_>>());
    let seen = Seen { nodes: &nodes, pods: &pods, ..Seen::default() };
    let view = view(&seen, &Known::default(), &Settings::default());
    let text = |card: &GpuCard| {
        let state = match &card.state {
            CardState::Usable => "usable".to_owned(),
            CardState::TakenByOthers => "others".to_owned(),
            CardState::Unusable(why) => why.to_string(),
        };
        format!("{} {}: {state}", card.vendor.as_str(), card.model)
    };
    view.nodes["n1"].cards.iter().map(text).collect()
}

#[test]
fn cards_of_two_vendors_on_one_node_are_told_apart() {
    let labels = [("nvidia.model.a100", "2"), ("amd.model.mi250", "2")];
    let plugins = [("nvidia.com/gpu", "2", "2"), ("amd.com/gpu", "2", "2")];
    assert_eq!(
        cards_of(&labels, &plugins, &[("amd.com/gpu", "1")]),
        ["nvidia a100: usable", "nvidia a100: usable", "amd mi250: others", "amd mi250: usable"]
    );
    // One vendor's plugin is gone: the other's cards are sold on.
    let plugins = [("nvidia.com/gpu", "2", "0"), ("amd.com/gpu", "2", "2")];
    let gone = "nvidia a100: the device plugin offers 0 of 2 cards";
    assert_eq!(
        cards_of(&labels, &plugins, &[]),
        [gone, gone, "amd mi250: usable", "amd mi250: usable"]
    );
}

#[test]
fn an_unhealthy_card_may_be_any_of_those_that_look_alike() {
    let plugins = [("nvidia.com/gpu", "3", "2")];
    let sick = |model: &str| format!("nvidia {model}: the device plugin offers 2 of 3 cards");
    assert_eq!(
        cards_of(&[("nvidia.model.a100", "3")], &plugins, &[]),
        [sick("a100"), "nvidia a100: usable".to_owned(), "nvidia a100: usable".to_owned()]
    );
    let mixed = [("nvidia.model.a100", "2"), ("nvidia.model.t4", "1")];
    assert_eq!(
        cards_of(&mixed, &plugins, &[]),
        [sick("a100"), "nvidia a100: usable".to_owned(), sick("t4")]
    );
}

#[test]
fn a_card_that_no_label_names_is_shown_and_sold_once_it_is_labelled() {
    let plugins = [("nvidia.com/gpu", "2", "2")];
    let unknown = "nvidia unknown: no label names its model; the label \
                   akash.network/capabilities.gpu.vendor.nvidia.model.unknown has it sold as any \
                   model";
    assert_eq!(
        cards_of(&[("nvidia.model.t4", "1")], &plugins, &[]),
        ["nvidia t4: usable", unknown]
    );
    let labels = [("nvidia.model.t4", "1"), ("nvidia.model.unknown", "1")];
    assert_eq!(cards_of(&labels, &plugins, &[]), ["nvidia t4: usable", "nvidia unknown: usable"]);
}

#[test]
fn slices_of_cards_are_shown_and_not_sold() {
    let allocatable = json!({
        "cpu": "8", "nvidia.com/gpu": "0", "nvidia.com/mig-1g.5gb": "7", "nvidia.com/pgpu": "1",
        "nvidia.com/mig-2g.10gb": "0", "rdma/hca": "1",
    });
    let node = changed(&json!({"status": {"allocatable": allocatable}}));
    let devices: Vec<_> = node.unsold_devices.iter().map(|(name, n)| (&**name, *n)).collect();
    assert_eq!(devices, [("nvidia.com/mig-1g.5gb", 7), ("nvidia.com/pgpu", 1)]);
    assert_eq!(node.allocatable.gpu, 0);
}

#[test]
fn memory_volumes_of_others_count_once() {
    let container = json!({"name": "c", "resources": {}, "volumeMounts": [
        {"name": "shm", "mountPath": "/dev/shm"},
    ]});
    let volumes = json!([
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}},
        {"name": "open", "emptyDir": {"medium": "Memory"}},
        {"name": "disk", "emptyDir": {"sizeLimit": "1Gi"}},
    ]);
    let spec = json!({"nodeName": "n1", "containers": [container, container], "volumes": volumes});
    let (nodes, pods) = ([node()], [pod("x", "default", spec, json!({}))]);
    let seen = Seen { nodes: &nodes, pods: &pods, ..Seen::default() };
    let view = view(&seen, &Known::default(), &Settings::default());
    assert_eq!(view.nodes["n1"].others.memory, 64 << 20);
}

#[test]
fn volumes_on_disks_of_nodes_count_on_their_node() {
    let volume = |namespace: &str, node: &str, size: &str| -> PersistentVolume {
        let expression =
            json!({"key": "kubernetes.io/hostname", "operator": "In", "values": [node]});
        let object = json!({"spec": {
            "storageClassName": "local-path",
            "capacity": {"storage": size},
            "claimRef": {"namespace": namespace},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}},
        }});
        serde_json::from_value(object).unwrap()
    };
    let class = json!({"metadata": {"name": "local-path"}, "provisioner": "rancher.io/local-path"});
    let (nodes, classes) = ([node()], [serde_json::from_value(class).unwrap()]);
    let volumes = [
        volume("default", "n1", "2Gi"),
        volume("default", "n2", "4Gi"),
        volume(NAMESPACE, "n1", "3Gi"),
    ];
    let manifests = [manifest()];
    let seen = Seen {
        nodes: &nodes,
        classes: &classes,
        volumes: &volumes,
        manifests: &manifests,
        ..Seen::default()
    };
    let capacity = Capacity { bytes: 7, place: StoragePlace::NodeDisk, disks: None };
    let known =
        Known { capacity: [("local-path".to_owned(), capacity)].into(), ..Known::default() };
    let sold = vec!["local-path".to_owned()];
    let view = view(&seen, &known, &Settings { storage_classes: sold, ..Settings::default() });
    // Of the lease's volume the engine knows itself.
    assert_eq!(view.nodes["n1"].others.ephemeral, 2 << 30);
    let class = &view.storage["local-path"];
    assert_eq!((class.allocatable, class.others), (7, 0));
}

#[test]
fn a_lease_without_its_manifest_is_seen_by_its_namespace() {
    let labels = provider_crd::labels::lease(&lease());
    let namespace = |name: &str| -> Namespace {
        let object = json!({"metadata": {
            "name": name, "labels": labels, "deletionTimestamp": "2026-01-01T00:00:00Z",
        }});
        serde_json::from_value(object).unwrap()
    };
    let namespaces = [namespace(NAMESPACE)];
    let seen = Seen { namespaces: &namespaces, ..Seen::default() };
    let leases = view(&seen, &Known::default(), &Settings::default()).leases;
    let found = &leases[&lease()];
    assert!(found.terminating && found.held.is_none());
    // Labels alone are no proof: anybody can write them.
    let namespaces = [namespace("else")];
    let seen = Seen { namespaces: &namespaces, ..Seen::default() };
    assert_eq!(view(&seen, &Known::default(), &Settings::default()).leases, BTreeMap::new());
}

#[test]
fn what_is_held_names_the_card_that_was_promised() {
    let manifests = [manifest()];
    let gpu = json!({"name": "c", "resources": {"requests": {"nvidia.com/gpu": "1"}}});
    let pods = [pod("x", NAMESPACE, json!({"containers": [gpu]}), json!({}))];
    let seen = Seen { manifests: &manifests, pods: &pods, ..Seen::default() };
    let known = Known { deployed: [lease()].into(), ..Known::default() };
    let view = view(&seen, &known, &Settings::default());
    let found = &view.leases[&lease()];
    let held = found.held.as_ref().unwrap();
    assert!(held.deployed);
    assert_eq!(&*held.cards["web"].model, "a100");
    assert_eq!(found.replicas[0].card.as_ref(), held.cards.get("web"));
}

#[test]
fn storage_is_sold_where_it_exists_and_somebody_knows_how_much() {
    let class = |name: &str| -> StorageClass {
        serde_json::from_value(json!({"metadata": {"name": name}, "provisioner": "p"})).unwrap()
    };
    let volume = |namespace: &str, size: &str| -> PersistentVolume {
        let object = json!({"spec": {
            "storageClassName": "beta2",
            "capacity": {"storage": size},
            "claimRef": {"namespace": namespace},
        }});
        serde_json::from_value(object).unwrap()
    };
    let claim: PersistentVolumeClaim = serde_json::from_value(json!({
        "metadata": {"namespace": NAMESPACE},
        "spec": {"storageClassName": "beta2", "resources": {"requests": {"storage": "3Gi"}}},
    }))
    .unwrap();
    let classes = [class("beta2"), class("beta3")];
    let volumes = [volume("default", "2Gi"), volume(NAMESPACE, "3Gi")];
    let (claims, manifests) = ([claim], [manifest()]);
    let seen = Seen {
        classes: &classes,
        volumes: &volumes,
        claims: &claims,
        manifests: &manifests,
        ..Seen::default()
    };
    let shared = |bytes| Capacity { bytes, ..Capacity::default() };
    let known = Known {
        capacity: [("beta2".to_owned(), shared(100)), ("gone".to_owned(), shared(5))].into(),
        without_capacity: [("beta3".to_owned(), "its size is not known".to_owned())].into(),
        ..Known::default()
    };
    let sold = ["beta2", "beta3", "gone"].map(str::to_owned).to_vec();
    let view = view(&seen, &known, &Settings { storage_classes: sold, ..Settings::default() });
    let unsold: Vec<_> =
        view.storage.iter().map(|(name, class)| (&**name, class.unsold.as_deref())).collect();
    assert_eq!(unsold, [("beta2", None), ("beta3", Some("its size is not known"))]);
    assert_eq!((view.storage["beta2"].allocatable, view.storage["beta2"].others), (100, 2 << 30));
    assert_eq!(view.leases[&lease()].volumes["beta2"], 3 << 30);
}

#[test]
fn exit_codes_above_128_are_signals() {
    for (code, expected) in [
        (0, "it ended by itself"),
        (1, "it ended with exit code 1"),
        (128, "it ended with exit code 128"),
        (129, "it was killed by signal 1"),
        (137, "it was killed by signal 9"),
        (192, "it was killed by signal 64"),
        (193, "it ended with exit code 193"),
    ] {
        assert_eq!(replica::exit(code, None), expected);
    }
}

#[test]
fn a_pod_says_how_it_is_in_plain_words() {
    let waiting = |reason: &str| {
        json!({"containerStatuses": [{
            "name": "c", "image": "", "imageID": "", "ready": false, "restartCount": 3,
            "state": {"waiting": {"reason": reason, "message": "because"}},
        }]})
    };
    let mut crashing = waiting("CrashLoopBackOff");
    crashing["containerStatuses"][0]["lastState"] =
        json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}});
    let unschedulable = json!({"conditions": [{
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes",
    }]});
    for (status, expected) in [
        (json!({}), Condition::Starting),
        (waiting("ContainerCreating"), Condition::Starting),
        (json!({"conditions": [{"type": "Ready", "status": "True"}]}), Condition::Ready),
        (unschedulable, Condition::Unschedulable("0/1 nodes".to_owned())),
        (
            waiting("ImagePullBackOff"),
            Condition::Failing("its image cannot be pulled: because".to_owned()),
        ),
        (
            crashing,
            Condition::Failing(
                "it ends soon after every start: it was killed because it used more memory than it may"
                    .to_owned(),
            ),
        ),
        (
            json!({"phase": "Failed", "reason": "Evicted", "message": "disk"}),
            Condition::Failing("Evicted: disk".to_owned()),
        ),
    ] {
        let pod = pod("p", "n", json!({"containers": []}), status.clone());
        assert_eq!(condition(&pod), expected, "{status}");
    }
    let mut ending = pod("p", "n", json!({"containers": []}), json!({}));
    ending.metadata.deletion_timestamp =
        serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap();
    assert_eq!(condition(&ending), Condition::Ending);
}

#[test]
fn the_architecture_of_a_node_is_its_label_else_what_its_kubelet_reports() {
    use akash_types::CpuArch::{Amd64, Arm64};
    use provider_engine::cluster::view::NodeArch;
    let seen = |label: Option<&str>, reported: Option<&str>| {
        let mut object = serde_json::to_value(node()).unwrap();
        if let Some(label) = label {
            object["metadata"]["labels"]["kubernetes.io/arch"] = json!(label);
        }
        if let Some(reported) = reported {
            object["status"]["nodeInfo"] = json!({"architecture": reported});
        }
        super::node::arch(&serde_json::from_value(object).unwrap())
    };
    assert_eq!(seen(Some("arm64"), Some("amd64")), NodeArch::Known(Arm64));
    assert_eq!(seen(None, Some("arm64")), NodeArch::Known(Arm64));
    assert_eq!(seen(Some("amd64"), None), NodeArch::Known(Amd64));
    assert_eq!(seen(Some("riscv64"), None), NodeArch::Other);
    assert_eq!(seen(None, None), NodeArch::Unreported);
}
