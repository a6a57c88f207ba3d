use std::collections::BTreeMap;

use akash_sdl::manifest::Service as Sent;
use provider_engine::cluster::port::{EventKind, Phase, Transport};
use serde_json::{Value, json};

use super::*;
use crate::resolve;

fn one_lease(count: u32) -> Lease {
    let id = "akash15745vczur53teyxl4k05u250tfvp0lvdcfqx27/5950031/1/1/akash1xmz9es9ay9ln9x2m3q8dlu0alxf0ltce7ykjfx";
    let wanted = Sent { name: "web".to_owned(), count, ..Sent::default() };
    Lease {
        id: id.parse().unwrap(),
        namespace: "ns".to_owned(),
        revision: "7".to_owned(),
        services: vec![resolve::Service { wanted, scheduler: None }],
    }
}

fn deployment() -> Deployment {
    let object = json!({"metadata": {"name": "web", "generation": 3}, "spec": {},
        "status": {"observedGeneration": 3, "updatedReplicas": 1}});
    serde_json::from_value(object).unwrap()
}

fn pod(revision: &str, status: Value) -> Pod {
    let labels: BTreeMap<_, _> = [
        ("akash.network/manifest-service", "web"),
        ("akash.network/manifest.resource.version", revision),
        ("controller-revision-hash", "web-a"),
    ]
    .into();
    serde_json::from_value(
        json!({"metadata": {"name": "web-1-x", "labels": labels}, "status": status}),
    )
    .unwrap()
}

fn ready() -> Pod {
    pod("7", json!({"conditions": [{"type": "Ready", "status": "True"}]}))
}

fn settings() -> Settings {
    Settings { public_hostname: "provider.example".to_owned(), ..Settings::default() }
}

fn only(count: u32, shown: &LeaseObjects<'_>) -> ServiceStatus {
    let deployments = [deployment()];
    let shown = LeaseObjects { deployments: &deployments, ..*shown };
    let mut status = lease(&one_lease(count), &shown, &settings()).unwrap();
    status.services.remove(0)
}

#[test]
fn a_lease_without_workloads_has_no_status() {
    assert_eq!(lease(&one_lease(1), &LeaseObjects::default(), &settings()), None);
}

#[test]
fn a_hostname_that_another_deployment_has_is_told_where_it_is_asked_for() {
    use akash_sdl::manifest::{Protocol, ServiceExpose};
    let mut wanted = one_lease(1);
    let hosts = Some(["one.example", "Two.example"].map(str::to_owned).into());
    let (port, proto) = (80, Protocol::Tcp);
    let expose = ServiceExpose { port, proto, global: true, hosts, ..ServiceExpose::default() };
    wanted.services[0].wanted.expose = Some(vec![expose]);
    let host = |name: &str| {
        let object = json!({"metadata": {"name": name},
            "spec": {"hostname": name, "service_name": "web"}});
        serde_json::from_value::<ProviderHost>(object).unwrap()
    };
    let (deployments, pods) = ([deployment()], [ready()]);
    let why = |hosts: &[ProviderHost]| {
        let shown = LeaseObjects {
            deployments: &deployments,
            pods: &pods,
            hosts,
            ..LeaseObjects::default()
        };
        let service = lease(&wanted, &shown, &settings()).unwrap().services.remove(0);
        assert_eq!(service.phase, Phase::Ready);
        service.why
    };
    assert_eq!(why(&[host("one.example"), host("two.example")]), None);
    let said = why(&[host("one.example")]).unwrap();
    assert!(said.starts_with("Two.example: another deployment has this hostname"), "{said}");
}

#[test]
fn the_worst_that_matters_names_the_phase() {
    let waiting = |reason: &str| {
        let state = json!({"waiting": {"reason": reason, "message": "m"}});
        pod(
            "6",
            json!({"containerStatuses": [{
                "name": "web", "image": "", "imageID": "", "ready": false, "restartCount": 2, "state": state,
            }]}),
        )
    };
    let unplaced = pod(
        "7",
        json!({"conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes",
        }]}),
    );
    let failing = waiting("ErrImagePull");
    for (pods, phase, why) in [
        (vec![ready(), ready()], Phase::Ready, None),
        (vec![ready(), failing.clone()], Phase::Degraded, Some("its image cannot be pulled: m")),
        (
            vec![failing.clone(), unplaced.clone()],
            Phase::Failing,
            Some("its image cannot be pulled: m"),
        ),
        (vec![unplaced], Phase::Pending, Some("no node has room for it: 0/1 nodes")),
        (vec![waiting("ContainerCreating")], Phase::Starting, Some("its containers are starting")),
        (vec![], Phase::Starting, Some("the cluster has not made its pods yet")),
    ] {
        let status = only(2, &LeaseObjects { pods: &pods, ..LeaseObjects::default() });
        assert_eq!((status.phase, status.why.as_deref()), (phase, why));
    }
    let pods = [ready(), failing];
    let status =
        only(2, &LeaseObjects { pods: &pods, terminating: true, ..LeaseObjects::default() });
    assert_eq!(status.phase, Phase::Ending);
    let counts = status.counts;
    assert_eq!((counts.wanted, counts.existing, counts.updated, counts.ready), (2, 2, 1, 1));
    assert_eq!((counts.generation, status.restarts), (3, 2));
}

#[test]
fn pods_are_updated_when_their_controller_says_so() {
    let pods = [ready(), ready()];
    let updated = |shown: LeaseObjects<'_>| {
        let shown = LeaseObjects { pods: &pods, ..shown };
        lease(&one_lease(2), &shown, &settings()).unwrap().services.remove(0).counts.updated
    };
    let mut deployments = [deployment()];
    assert_eq!(updated(LeaseObjects { deployments: &deployments, ..LeaseObjects::default() }), 1);
    deployments[0].metadata.generation = Some(4);
    assert_eq!(updated(LeaseObjects { deployments: &deployments, ..LeaseObjects::default() }), 0);

    let set = |observed: i64, newest: &str| -> StatefulSet {
        let status = json!({"observedGeneration": observed, "updateRevision": newest});
        let metadata = json!({"name": "web", "generation": 2});
        serde_json::from_value(json!({"metadata": metadata, "status": status})).unwrap()
    };
    for (observed, newest, count) in [(2, "web-a", 2), (2, "web-b", 0), (1, "web-a", 0)] {
        let stateful_sets = [set(observed, newest)];
        let shown = LeaseObjects { stateful_sets: &stateful_sets, ..LeaseObjects::default() };
        assert_eq!(updated(shown), count, "{observed} {newest}");
    }
}

#[test]
fn a_warning_says_why_where_no_pod_does() {
    let warning = |name: &str, note: &str| -> Event {
        let object = json!({
            "type": "Warning", "reason": "FailedMount", "note": note, "regarding": {"kind": "Pod", "name": name},
        });
        serde_json::from_value(object).unwrap()
    };
    let events =
        [warning("web-1-x", "old"), warning("web-1-x", "no volume"), warning("webber", "x")];
    let pods = [pod("7", json!({}))];
    let status = only(1, &LeaseObjects { pods: &pods, events: &events, ..LeaseObjects::default() });
    assert_eq!(status.why.as_deref(), Some("no volume"));
    let told = event(&events[0], ["web", "web-1"].into_iter());
    assert_eq!((told.kind, told.service.as_deref()), (EventKind::Warning, Some("web-1")));
    assert_eq!(event(&events[2], ["web"].into_iter()).service, None);
}

#[test]
fn the_container_that_ended_last_says_how() {
    let ended = |code: i32, at: &str| {
        pod(
            "7",
            json!({"containerStatuses": [{
                "name": "web", "image": "", "imageID": "", "ready": false, "restartCount": 1,
                "lastState": {"terminated": {"exitCode": code, "finishedAt": at}},
            }]}),
        )
    };
    let pods = [ended(1, "2026-01-01T00:00:02Z"), ended(137, "2026-01-01T00:00:01Z")];
    let exit = only(1, &LeaseObjects { pods: &pods, ..LeaseObjects::default() }).last_exit.unwrap();
    assert_eq!((exit.code, exit.reason.as_str()), (1, "it ended with exit code 1"));
}

#[test]
fn ways_from_outside_are_told() {
    let services: Vec<Service> = [
        json!({
            "metadata": {"name": "web-np"},
            "spec": {"type": "NodePort", "ports": [
                {"port": 53, "targetPort": 5353, "protocol": "UDP", "nodePort": 31000},
            ]},
        }),
        json!({
            "metadata": {"name": "web-ip-80-tcp", "labels": {"akash.network/service-target": "metal-lb"}},
            "spec": {
                "selector": {"akash.network/manifest-service": "web"},
                "ports": [{"port": 80, "targetPort": 8080, "protocol": "TCP"}],
            },
            "status": {"loadBalancer": {"ingress": [{"ip": "203.0.113.7"}]}},
        }),
        json!({
            "metadata": {"name": "web-ip-81-tcp", "labels": {"akash.network/service-target": "metal-lb"}},
            "spec": {
                "selector": {"akash.network/manifest-service": "web"},
                "ports": [{"port": 81, "targetPort": 8081, "protocol": "TCP"}],
            },
        }),
    ]
    .map(|object| serde_json::from_value(object).unwrap())
    .into();
    let hosts: Vec<ProviderHost> = ["web", "db"]
        .map(|service| {
            let spec = json!({"hostname": format!("{service}.example"), "service_name": service});
            serde_json::from_value(json!({"metadata": {}, "spec": spec})).unwrap()
        })
        .into();
    let status =
        only(1, &LeaseObjects { services: &services, hosts: &hosts, ..LeaseObjects::default() });
    assert_eq!(status.hostnames, ["web.example"]);
    let port = &status.ports[0];
    assert_eq!(port.host.as_deref(), Some("provider.example"));
    assert_eq!((port.port, port.external_port, port.transport), (5353, 31000, Transport::Udp));
    let ips: Vec<_> =
        status.ips.iter().map(|ip| (ip.address.to_string(), ip.port, ip.external_port)).collect();
    assert_eq!(ips, [("203.0.113.7".to_owned(), 8080, 80)]);
}
