//! Ports at leased addresses: declared for the IP operator, and shown once it has given them.

use std::sync::Arc;

use akash_sdl::manifest::{Protocol, ServiceExpose};
use akash_types::{LeaseId, LeaseState};
use kube_bed::Bed;
use provider_crd::names;
use provider_engine::cluster::command::{Operation, Workload};
use provider_engine::cluster::port::{Changes, Execute, Inspect, LeasedIp, Observe, Transport};
use provider_engine::cluster::view::ViewChange;
use provider_engine::reconcile::Evidence;
use provider_kube::KubeDriver;
use provider_testkit::kube::{Case, workload};
use serde_json::{Value, json};

use crate::bed::{api_server, driver, get, post, until};

const DECLARED: &str = "/apis/akash.network/v2beta2/namespaces/lease/providerleasedips";

fn case() -> Case {
    Case::recorded("01-basic").unwrap()
}

/// A lease of this number whose service has these ports at an address.
fn leased(dseq: u64, endpoint: &str, ports: &[(u32, u32, Protocol)]) -> Workload {
    let case = case();
    let (id, own) = (case.lease.to_string(), case.lease.dseq().to_string());
    let lease = id.replacen(&own, &dseq.to_string(), 1).parse().unwrap();
    let mut wanted = Workload { lease, ..workload(&case).unwrap() };
    let expose = |(port, external_port, proto): &(u32, u32, Protocol)| ServiceExpose {
        port: *port,
        external_port: *external_port,
        proto: proto.clone(),
        global: true,
        ip: endpoint.to_owned(),
        endpoint_sequence_number: 1,
        ..ServiceExpose::default()
    };
    let service = &mut Arc::make_mut(&mut wanted.group).services[0];
    service.expose = Some(ports.iter().map(expose).collect());
    wanted
}

async fn deploy(driver: &KubeDriver, wanted: &Workload) {
    driver.execute(Operation::Deploy(Arc::new(wanted.clone()))).await.unwrap();
}

/// What is declared: names, and whose they are.
async fn declared(bed: &Bed) -> Vec<(String, String)> {
    let listed = get(bed, DECLARED).await.unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut found: Vec<_> = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (text(&it["metadata"]["name"]), text(&it["spec"]["lease_id"]["dseq"])))
        .collect();
    found.sort_unstable();
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn ports_at_leased_addresses_are_declared_and_go_with_their_lease_only() {
    let bed = api_server().await;
    let (driver, _) = driver(&bed, case().settings).await;
    let owner = case().lease.owner().to_string();
    let name = |rest: &str| format!("{owner}-ip-{rest}");
    let both = [(8080, 80, Protocol::Tcp), (53, 0, Protocol::Udp)];
    let first = leased(1, "myip", &both);
    deploy(&driver, &first).await;

    let stored = get(&bed, &format!("{DECLARED}/{}", name("myip-tcp-80"))).await.unwrap();
    assert_eq!(
        stored["spec"],
        json!({
            "lease_id": {
                "owner": owner, "dseq": "1", "gseq": 1, "oseq": 1,
                "provider": case().lease.provider().to_string(),
            },
            "service_name": "web", "port": 8080, "external_port": 80,
            "sharing_key": name("myip"), "protocol": "TCP",
        })
    );
    let labels = &stored["metadata"]["labels"];
    for (key, value) in [
        ("akash.network", "true"),
        ("akash.network/lease.id.dseq", "1"),
        ("service-name", "web"),
        ("external-port", "80"),
        ("proto", "TCP"),
    ] {
        assert_eq!(labels[key], value, "{key}");
    }
    // Beside the address, the port is reached as any other.
    let namespace = names::lease_namespace(&first.lease);
    for path in [
        format!("/apis/networking.k8s.io/v1/namespaces/{namespace}/networkpolicies/akash-web-ip"),
        format!("/api/v1/namespaces/{namespace}/services/web-np"),
        format!("/api/v1/namespaces/{namespace}/services/web"),
    ] {
        get(&bed, &path).await.unwrap();
    }

    // Another lease of the tenant: what the first one has stays the first one's.
    let second = leased(2, "myip", &[(9090, 80, Protocol::Tcp), (22, 0, Protocol::Tcp)]);
    deploy(&driver, &second).await;
    let own = |rest: &str, dseq: &str| (name(rest), dseq.to_owned());
    let all = [own("myip-tcp-22", "2"), own("myip-tcp-80", "1"), own("myip-udp-53", "1")];
    assert_eq!(declared(&bed).await, all);

    // An endpoint that is named otherwise takes away what that lease had, and nothing else.
    deploy(&driver, &leased(1, "other", &both)).await;
    let all = [own("myip-tcp-22", "2"), own("other-tcp-80", "1"), own("other-udp-53", "1")];
    assert_eq!(declared(&bed).await, all);

    let evidence = Evidence::new(LeaseState::Closed, None, 1, 2).unwrap();
    driver.execute(Operation::Teardown { lease: first.lease, evidence }).await.unwrap();
    assert_eq!(declared(&bed).await, [own("myip-tcp-22", "2")]);
}

/// The Service that the IP operator makes of a declared port.
async fn balanced(
    bed: &Bed,
    lease: &LeaseId,
    external: u32,
    target: u32,
    protocol: &str,
) -> String {
    let namespace = names::lease_namespace(lease);
    let name = format!("web-ip-{external}-{}", protocol.to_lowercase());
    let path = format!("/api/v1/namespaces/{namespace}/services");
    let service = json!({
        "metadata": {"name": name, "labels": {
            "akash.network": "true", "akash.network/service-target": "metal-lb",
        }},
        "spec": {
            "type": "LoadBalancer",
            "selector": {"akash.network": "true", "akash.network/manifest-service": "web"},
            "ports": [{
                "name": name, "port": external, "targetPort": target, "protocol": protocol,
            }],
        },
    });
    post(bed, &path, &service).await.unwrap();
    format!("{path}/{name}/status")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_shown_once_it_was_given() {
    let bed = api_server().await;
    let (driver, _) = driver(&bed, case().settings).await;
    let wanted = leased(1, "myip", &[(8080, 80, Protocol::Tcp), (53, 0, Protocol::Udp)]);
    deploy(&driver, &wanted).await;
    let tcp = balanced(&bed, &wanted.lease, 80, 8080, "TCP").await;
    let _udp = balanced(&bed, &wanted.lease, 53, 53, "UDP").await;

    // None is there yet, and that is no failure.
    let ips = async || driver.service(wanted.lease, "web").await.unwrap().ips;
    assert_eq!(ips().await, []);

    let given = json!({"status": {"loadBalancer": {"ingress": [{"ip": "203.0.113.7"}]}}});
    let request = http::Request::patch(&tcp)
        .header("content-type", "application/merge-patch+json")
        .body(given.to_string().into_bytes())
        .unwrap();
    bed.client().request::<Value>(request).await.unwrap();
    let shown = LeasedIp {
        port: 8080,
        external_port: 80,
        transport: Transport::Tcp,
        address: "203.0.113.7".parse().unwrap(),
    };
    until("the address", async || ips().await == [shown]).await;

    // An update leaves alone what the operator made, and the engine counts one address.
    let mut update = wanted.clone();
    Arc::make_mut(&mut update.group).services[0].image = "localhost/other:1".to_owned();
    deploy(&driver, &update).await;
    assert_eq!(ips().await, [shown]);
    let ViewChange::Whole(view) = driver.observe().next().await else { panic!() };
    assert_eq!(view.leases[&wanted.lease].ips, 1);
}
