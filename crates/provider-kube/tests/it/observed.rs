//! What is seen of recorded pods is what was asked for them, and how they were.

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{Namespace, Pod, Service};
use provider_crd::{Manifest, ProviderHost};
use provider_engine::cluster::port::{LeaseStatus, Phase};
use provider_engine::cluster::view::Condition;
use provider_kube::build;
use provider_kube::observe::{self, Known, Seen, carry_revision, is_written, milli, whole};
use provider_kube::resolve::Lease;
use provider_kube::status::{self, LeaseObjects};
use provider_testkit::kube::Case;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A recorded case with its objects as types.
struct Typed {
    case: Case,
    lease: Lease,
    manifests: Vec<Manifest>,
    namespaces: Vec<Namespace>,
    deployments: Vec<Deployment>,
    stateful_sets: Vec<StatefulSet>,
    services: Vec<Service>,
    hosts: Vec<ProviderHost>,
    pods: Vec<Pod>,
}

fn of_kind<T: DeserializeOwned>(objects: &[Value], kind: &str) -> Vec<T> {
    let found = objects.iter().filter(|object| object["kind"] == kind);
    found.map(|object| serde_json::from_value(object.clone()).unwrap()).collect()
}

fn typed(name: &str) -> Typed {
    let case = Case::recorded(name).unwrap();
    let manifests: Vec<Manifest> = of_kind(&case.custom, "Manifest");
    Typed {
        lease: Lease::of(&manifests[0]).unwrap(),
        manifests,
        namespaces: of_kind(&case.objects, "Namespace"),
        deployments: of_kind(&case.objects, "Deployment"),
        stateful_sets: of_kind(&case.objects, "StatefulSet"),
        services: of_kind(&case.objects, "Service"),
        hosts: of_kind(&case.custom, "ProviderHost"),
        pods: of_kind(&case.pods, "Pod"),
        case,
    }
}

fn status_of(typed: &Typed) -> LeaseStatus {
    let shown = LeaseObjects {
        deployments: &typed.deployments,
        stateful_sets: &typed.stateful_sets,
        pods: &typed.pods,
        services: &typed.services,
        hosts: &typed.hosts,
        ..LeaseObjects::default()
    };
    status::lease(&typed.lease, &shown, &typed.case.settings).unwrap()
}

#[test]
fn a_recorded_pod_asks_for_what_its_service_was_built_with() {
    for name in ["01-basic", "02-two-services", "05-storage", "06-gpu", "flags-B/03-hostnames-b"] {
        let typed = typed(name);
        let seen = Seen {
            pods: &typed.pods,
            manifests: &typed.manifests,
            namespaces: &typed.namespaces,
            hosts: &typed.hosts,
            ..Seen::default()
        };
        let view = observe::view(&seen, &Known::default(), &typed.case.settings);
        let found = &view.leases[&typed.case.lease];
        let wanted: u32 = typed.lease.services.iter().map(|service| service.wanted.count).sum();
        assert_eq!(u32::try_from(found.replicas.len()).unwrap(), wanted, "{name}");
        let hostnames: Vec<_> = typed.hosts.iter().map(|host| &host.spec.hostname).collect();
        assert_eq!(found.hostnames.iter().collect::<Vec<_>>(), hostnames, "{name}");
        for replica in &found.replicas {
            let object = typed
                .case
                .find("Deployment", &replica.service)
                .or_else(|| typed.case.find("StatefulSet", &replica.service))
                .unwrap();
            let requests =
                &object["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"];
            let amount = |key: &str, read: fn(&str) -> Option<i64>| {
                requests[key].as_str().map_or(0, |text| read(text).unwrap())
            };
            let asks = replica.asks;
            assert_eq!(asks.cpu_milli, amount("cpu", milli), "{name}");
            assert_eq!(asks.memory, amount("memory", whole), "{name}");
            assert_eq!(asks.ephemeral, amount("ephemeral-storage", whole), "{name}");
            assert_eq!(asks.gpu, amount("nvidia.com/gpu", whole), "{name}");
            assert_eq!(replica.card.is_some(), asks.gpu > 0, "{name}");
        }
    }
}

#[test]
fn recorded_leases_are_as_they_were() {
    for (name, phase, condition) in [
        ("01-basic", Phase::Ready, Some(Condition::Ready)),
        ("05-storage", Phase::Pending, None),
        ("06-gpu", Phase::Pending, None),
    ] {
        let typed = typed(name);
        let status = status_of(&typed);
        assert_eq!(status.services[0].phase, phase, "{name}");
        let why = status.services[0].why.clone();
        assert_eq!(why.is_none(), phase == Phase::Ready, "{name}");
        if let Some(why) = why {
            assert!(why.starts_with("no node has room for it: 0/1 nodes"), "{name}: {why}");
        }
        if let Some(condition) = condition {
            assert_eq!(observe::condition(&typed.pods[0]), condition, "{name}");
        }
    }
}

#[test]
fn ports_on_the_nodes_are_told_as_recorded() {
    let typed = typed("04-nodeports");
    let status = status_of(&typed);
    let web = status.services.iter().find(|service| service.name == "web").unwrap();
    let ports: Vec<_> = web
        .ports
        .iter()
        .map(|port| (port.host.as_deref().unwrap(), port.port, port.external_port))
        .collect();
    assert_eq!(
        ports,
        [
            ("localhost", 53, 31786),
            ("localhost", 2222, 32332),
            ("localhost", 7000, 32221),
            ("localhost", 8080, 30595),
        ]
    );
}

#[test]
fn a_recorded_lease_was_written_completely_and_is_so_under_a_newer_manifest() {
    let typed = typed("09-permissions");
    let find = |kind: &str, name: &str| typed.case.find(kind, name).cloned();
    let objects = build::workload(&typed.lease, &typed.case.settings).unwrap();
    let there: Vec<_> = objects
        .iter()
        .map(|object| {
            let name = object.metadata().name.clone().unwrap();
            let labels = find(object.kind(), &name).unwrap()["metadata"]["labels"].clone();
            (object.kind(), name, serde_json::from_value(labels).unwrap())
        })
        .collect();
    let labels_of = |kind: &str, name: &str| {
        let found = there.iter().find(|(known, named, _)| *known == kind && named == name);
        found.map(|(_, _, labels)| labels)
    };
    let but_one = |kind: &str| kind != "RoleBinding";
    assert!(carry_revision(&objects, labels_of));
    assert!(!carry_revision(&objects, |kind, name| labels_of(kind, name).filter(|_| but_one(kind))));
    assert!(is_written(&objects, find));
    assert!(!is_written(&objects, |kind, name| find(kind, name).filter(|_| but_one(kind))));

    // The `Manifest` was written again, and says the same.
    let mut newer = Lease { revision: "9999".to_owned(), ..typed.lease.clone() };
    let built = |lease: &Lease| build::workload(lease, &typed.case.settings).unwrap();
    assert!(!carry_revision(&built(&newer), labels_of));
    assert!(is_written(&built(&newer), find));
    // It says something else.
    newer.services[0].wanted.image = "localhost/other:1".to_owned();
    assert!(!is_written(&built(&newer), find));
}
