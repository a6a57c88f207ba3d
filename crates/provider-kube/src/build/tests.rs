use std::collections::BTreeMap;
use std::sync::Arc;

use akash_sdl::manifest::{
    Group, ImageCredentials, Protocol, Service as Sent, ServiceExpose, ServiceParams,
    ServicePermissions, ServiceResources, StorageParams,
};
use akash_types::{Attribute, Cpu, Gpu, GpuVendor, Memory, Storage};
use provider_crd::manifest::SchedulerParams;
use provider_engine::cluster::command::Workload;
use provider_engine::cluster::view::CardChoice;
use serde_json::{Value, json};

use super::*;
use crate::isolation::{Isolation, PodProfile};
use crate::resolve;
use crate::settings::{NetworkPolicies, Overcommit};

const LEASE: &str = "akash15745vczur53teyxl4k05u250tfvp0lvdcfqx27/5950031/1/1/akash1xmz9es9ay9ln9x2m3q8dlu0alxf0ltce7ykjfx";
const NAMESPACE: &str = "h644k9qp92e0qeakjsjkk8f3piivkuhgc6baon9tccuqo";

fn settings() -> Settings {
    Settings {
        public_hostname: "provider.example.com".to_owned(),
        generated_hosts: Some("ingress.example.com".to_owned()),
        network_policies: Some(NetworkPolicies {
            api_server: vec!["10.0.0.1:6443".parse().unwrap(), "[fd00::1]:6443".parse().unwrap()],
        }),
        ..Settings::default()
    }
}

fn expose(port: u32, external_port: u32, proto: Protocol, global: bool) -> ServiceExpose {
    ServiceExpose { port, external_port, proto, global, ..ServiceExpose::default() }
}

fn volume(name: &str, quantity: u64, attributes: &[(&str, &str)]) -> Storage {
    let attributes = attributes.iter().map(|(key, value)| Attribute::new(*key, *value)).collect();
    Storage { name: name.to_owned(), quantity, attributes }
}

/// The service of the worked example.
fn web() -> Sent {
    Sent {
        name: "web".to_owned(),
        image: "nginx:1.25".to_owned(),
        env: Some(vec!["FOO=bar".to_owned()]),
        count: 1,
        resources: ServiceResources {
            id: 1,
            cpu: Some(Cpu { units: 100, attributes: vec![] }),
            gpu: Some(Gpu::default()),
            memory: Some(Memory { quantity: 134_217_728, attributes: vec![] }),
            storage: Some(vec![volume("default", 536_870_912, &[])]),
            endpoints: None,
        },
        expose: Some(vec![
            expose(22, 2222, Protocol::Tcp, true),
            expose(8080, 80, Protocol::Tcp, true),
        ]),
        ..Sent::default()
    }
}

fn lease(service: Sent, cards: BTreeMap<String, CardChoice>) -> Lease {
    let group = Group { name: "group".to_owned(), services: vec![service] };
    let workload = Workload {
        lease: LEASE.parse().unwrap(),
        version: None,
        group: Arc::new(group),
        cards,
        withheld: vec![],
        endpoints_to_take: vec![],
        ignored: BTreeMap::new(),
    };
    let mut manifest = resolve::manifest(&workload, &settings()).unwrap();
    manifest.metadata.resource_version = Some("12345".to_owned());
    Lease::of(&manifest).unwrap()
}

fn plain(service: Sent) -> Lease {
    lease(service, BTreeMap::new())
}

fn objects(lease: &Lease, settings: &Settings) -> BTreeMap<String, Value> {
    let objects = workload(lease, settings).unwrap();
    let entries = objects.iter().map(|object| {
        let name = object.metadata().name.clone().unwrap();
        (format!("{}/{name}", object.kind()), object.to_json().unwrap())
    });
    entries.collect()
}

fn container(objects: &BTreeMap<String, Value>) -> &Value {
    let workload =
        objects.get("Deployment/web").or_else(|| objects.get("StatefulSet/web")).unwrap();
    &workload["spec"]["template"]["spec"]["containers"][0]
}

#[test]
fn the_worked_example_becomes_these_objects() {
    let lease = plain(web());
    let objects = objects(&lease, &settings());
    let names: Vec<_> = objects.keys().map(String::as_str).collect();
    let expected = [
        "Deployment/web",
        &format!("Namespace/{NAMESPACE}"),
        "NetworkPolicy/akash-deployment-restrictions",
        "NetworkPolicy/akash-web-np",
        "Service/web",
        "Service/web-np",
    ];
    assert_eq!(names, expected);

    let labels = json!({
        "akash.network": "true",
        "akash.network/namespace": NAMESPACE,
        "akash.network/manifest.resource.version": "12345",
        "akash.network/manifest-service": "web",
    });
    let selector = json!({
        "akash.network": "true",
        "akash.network/namespace": NAMESPACE,
        "akash.network/manifest-service": "web",
    });
    let amounts = json!({"cpu": "100m", "memory": "134217728", "ephemeral-storage": "536870912"});
    let deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "replicas": 1,
            "revisionHistoryLimit": 10,
            "selector": {"matchLabels": selector},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "automountServiceAccountToken": false,
                    "securityContext": {"runAsNonRoot": false},
                    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [
                            {"key": "akash.network", "operator": "In", "values": ["true"]},
                        ]}],
                    }}},
                    "containers": [{
                        "name": "web",
                        "image": "nginx:1.25",
                        "imagePullPolicy": "IfNotPresent",
                        "ports": [{"containerPort": 22}, {"containerPort": 8080}],
                        "securityContext": {
                            "runAsNonRoot": false,
                            "privileged": false,
                            "allowPrivilegeEscalation": false,
                        },
                        "resources": {"requests": amounts, "limits": amounts},
                        "env": [
                            {"name": "FOO", "value": "bar"},
                            {"name": "AKASH_GROUP_SEQUENCE", "value": "1"},
                            {"name": "AKASH_DEPLOYMENT_SEQUENCE", "value": "5950031"},
                            {"name": "AKASH_ORDER_SEQUENCE", "value": "1"},
                            {"name": "AKASH_OWNER", "value": "akash15745vczur53teyxl4k05u250tfvp0lvdcfqx27"},
                            {"name": "AKASH_PROVIDER", "value": "akash1xmz9es9ay9ln9x2m3q8dlu0alxf0ltce7ykjfx"},
                            {"name": "AKASH_CLUSTER_PUBLIC_HOSTNAME", "value": "provider.example.com"},
                        ],
                    }],
                },
            },
        },
    });
    assert_eq!(objects["Deployment/web"], deployment);

    for (name, kind, port) in [
        (
            "web",
            "ClusterIP",
            json!({"name": "1-80", "port": 80, "targetPort": 8080, "protocol": "TCP"}),
        ),
        (
            "web-np",
            "NodePort",
            json!({"name": "0-2222", "port": 2222, "targetPort": 22, "protocol": "TCP"}),
        ),
    ] {
        let service = &objects[&format!("Service/{name}")];
        assert_eq!(service["metadata"]["labels"], labels);
        assert_eq!(service["spec"], json!({"type": kind, "selector": selector, "ports": [port]}));
    }
    let hosts = hosts(&lease, &settings(), &[], "2026-11-15T19:44:47.9Z".parse().unwrap());
    let hosts: Vec<_> = hosts.into_iter().map(|host| (host.metadata, host.spec)).collect();
    let [(metadata, spec)] = &hosts[..] else { panic!("{hosts:?}") };
    assert_eq!(spec.hostname, "7fcrm5778tbmd590gjbfcad0gk.ingress.example.com");
    assert_eq!((spec.service_name.as_str(), spec.external_port), ("web", 80));
    let declared = metadata.annotations.as_ref().unwrap();
    assert_eq!(declared["akash.network/lease.updated_at"], "2026-11-15T19:44:47Z");
}

#[test]
fn the_environment_keeps_what_the_tenant_set() {
    let env = ["AKASH_OWNER=me", "EMPTY=", "BARE", "EQ=a=b"].map(str::to_owned).to_vec();
    let objects = objects(&plain(Sent { env: Some(env), ..web() }), &settings());
    let env = container(&objects)["env"].as_array().unwrap();
    let expected = json!([
        {"name": "AKASH_OWNER", "value": "me"},
        {"name": "EMPTY"},
        {"name": "BARE"},
        {"name": "EQ", "value": "a=b"},
    ]);
    assert_eq!(Value::from(&env[..4]), expected);
    let owners = env.iter().filter(|entry| entry["name"] == "AKASH_OWNER").count();
    assert_eq!((env.len(), owners), (9, 1));
}

#[test]
fn volumes_become_claims_memory_or_room_beside_the_pod() {
    let persistent = |class| [("class", class), ("persistent", "true")];
    let storage = vec![
        volume("first", 1000, &[]),
        volume("last", 3000, &[]),
        volume("keep", 5_000_000_000, &persistent("beta3")),
        volume("any", 2048, &persistent("default")),
        volume("shm", 1024, &[("class", "ram"), ("persistent", "false")]),
        // Counted as memory, and yet no volume.
        volume("odd", 1, &[("class", "ram")]),
    ];
    let mount = |name: &str, read_only| StorageParams {
        name: name.to_owned(),
        mount: format!("/{name}"),
        read_only,
        ..StorageParams::default()
    };
    let mounts = Some(vec![mount("keep", true), mount("shm", false)]);
    let params = ServiceParams { storage: mounts, ..ServiceParams::default() };
    let resources = ServiceResources { storage: Some(storage), ..web().resources };
    let settings =
        Settings { overcommit: Overcommit { cpu: 100, memory: 200, storage: 199 }, ..settings() };
    let service = Sent { resources, params: Some(params), ..web() };
    let objects = objects(&plain(service), &settings);

    let spec = &objects["StatefulSet/web"]["spec"];
    assert_eq!(spec["revisionHistoryLimit"], 1);
    assert_eq!(
        spec["updateStrategy"],
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "partition": 0}})
    );
    assert_eq!(spec.get("serviceName"), None);
    let claims = &spec["volumeClaimTemplates"];
    assert_eq!(claims[0]["metadata"], json!({"name": "web-keep"}));
    let claim = |size: &str| {
        json!({
            "accessModes": ["ReadWriteOnce"],
            "volumeMode": "Filesystem",
            "resources": {"requests": {"storage": size}},
        })
    };
    let mut classed = claim("5G");
    classed["storageClassName"] = json!("beta3");
    assert_eq!(claims[0]["spec"], classed);
    assert_eq!(claims[1]["spec"], claim("2048"));

    let pod = &spec["template"]["spec"];
    let memory =
        json!([{"name": "web-shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1024"}}]);
    assert_eq!(pod["volumes"], memory);
    let terms = &pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    let wanted: Vec<_> = terms["nodeSelectorTerms"][0]["matchExpressions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|term| term["key"].as_str().unwrap())
        .collect();
    let class = "akash.network/capabilities.storage.class";
    assert_eq!(wanted, ["akash.network", &format!("{class}.beta3"), &format!("{class}.default")]);

    let container = container(&objects);
    assert_eq!(
        container["volumeMounts"],
        json!([
            {"name": "web-keep", "mountPath": "/keep", "readOnly": true},
            {"name": "web-shm", "mountPath": "/shm"},
        ])
    );
    assert_eq!(
        container["resources"],
        json!({
            "requests": {"cpu": "50m", "memory": "44739243", "ephemeral-storage": "1500"},
            "limits": {"cpu": "100m", "memory": "134218753", "ephemeral-storage": "3k"},
        })
    );
}

#[test]
fn cards_are_asked_for_under_the_name_of_their_vendor() {
    for (vendor, resource, runtime) in [
        (GpuVendor::Nvidia, "nvidia.com/gpu", json!("nvidia")),
        (GpuVendor::Amd, "amd.com/gpu", Value::Null),
    ] {
        let gpu = Some(Gpu { units: 2, attributes: vec![] });
        let service = Sent { resources: ServiceResources { gpu, ..web().resources }, ..web() };
        let card = CardChoice { vendor, model: "x1".into(), memory_gib: Some(80), interface: None };
        let lease = lease(service, [("web".to_owned(), card)].into());
        let objects = objects(&lease, &settings());
        let pod = &objects["Deployment/web"]["spec"]["template"]["spec"];
        assert_eq!(pod["runtimeClassName"], runtime);
        let amounts = &container(&objects)["resources"];
        assert_eq!(
            (&amounts["requests"][resource], &amounts["limits"][resource]),
            (&json!("2"), &json!("2"))
        );
        let affinity = pod["affinity"].to_string();
        let label = format!("capabilities.gpu.vendor.{}.model.x1\"", vendor.as_str());
        assert!(affinity.contains(&label), "{affinity}");
    }
}

#[test]
fn the_architecture_is_named_only_in_clusters_of_several() {
    let affinity = |arch: Option<&str>, has_mixed_architectures: bool| {
        let mut service = web();
        let attributes = arch.map(|arch| Attribute::new("arch", arch)).into_iter().collect();
        service.resources.cpu = Some(Cpu { units: 100, attributes });
        let settings = Settings { has_mixed_architectures, ..settings() };
        let objects = objects(&lease(service, BTreeMap::new()), &settings);
        let pod = &objects["Deployment/web"]["spec"]["template"]["spec"];
        let terms =
            &pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
        terms["nodeSelectorTerms"][0]["matchExpressions"].clone()
    };
    let managed = json!({"key": "akash.network", "operator": "In", "values": ["true"]});
    for arch in [None, Some("amd64"), Some("arm64")] {
        assert_eq!(affinity(arch, false), json!([managed]), "{arch:?}");
    }
    for (arch, wanted) in [(None, "amd64"), (Some("amd64"), "amd64"), (Some("arm64"), "arm64")] {
        let on = json!({"key": "kubernetes.io/arch", "operator": "In", "values": [wanted]});
        assert_eq!(affinity(arch, true), json!([managed, on]), "{arch:?}");
    }
    // What was never placed by architecture is not confined to one that no node has.
    assert_eq!(affinity(Some("x86_64"), true), json!([managed]));
}

#[test]
fn an_interface_that_a_manifest_names_is_looked_for_as_the_go_provider_does() {
    let gpu = Some(Gpu { units: 1, attributes: vec![] });
    let service = Sent { resources: ServiceResources { gpu, ..web().resources }, ..web() };
    let card = CardChoice {
        vendor: GpuVendor::Nvidia,
        model: "a100".into(),
        memory_gib: None,
        interface: None,
    };
    let mut lease = lease(service, [("web".to_owned(), card)].into());
    let params = lease.services[0].scheduler.as_mut().unwrap();
    let gpu = params.resources.as_mut().unwrap().gpu.as_mut().unwrap();
    gpu.memory_size = "80Gi".to_owned();
    gpu.interface = "pcie".to_owned();
    let affinity = serde_json::to_string(&affinity::of(&lease.services[0], &settings())).unwrap();
    assert!(affinity.contains("model.a100.ram.80Gi\""), "{affinity}");
    assert!(affinity.contains("model.a100.interface.80Gi\""), "{affinity}");
}

#[test]
fn cards_without_a_promise_are_refused() {
    let gpu = Some(Gpu { units: 1, attributes: vec![] });
    let service = Sent { resources: ServiceResources { gpu, ..web().resources }, ..web() };
    let refused = BuildError::NoCard { service: "web".to_owned() };
    assert_eq!(workload(&plain(service), &settings()), Err(refused));
}

#[test]
fn of_two_protocols_on_one_port_outside_the_first_is_kept() {
    let exposes = vec![
        expose(53, 0, Protocol::Udp, true),
        expose(53, 0, Protocol::Tcp, true),
        expose(9000, 0, Protocol::Tcp, false),
        expose(80, 0, Protocol::Udp, true),
    ];
    let objects = objects(&plain(Sent { expose: Some(exposes), ..web() }), &settings());
    assert_eq!(
        objects["Service/web-np"]["spec"]["ports"],
        json!([
            {"name": "0-53", "port": 53, "targetPort": 53, "protocol": "UDP"},
            {"name": "3-80", "port": 80, "targetPort": 80, "protocol": "UDP"},
        ])
    );
    assert_eq!(
        objects["Service/web"]["spec"]["ports"],
        json!([{"name": "2-9000", "port": 9000, "targetPort": 9000, "protocol": "TCP"}])
    );
    // The policy opens both.
    assert_eq!(
        objects["NetworkPolicy/akash-web-np"]["spec"]["ingress"],
        json!([{"ports": [
            {"port": 53, "protocol": "UDP"},
            {"port": 53, "protocol": "TCP"},
            {"port": 80, "protocol": "UDP"},
        ]}])
    );
}

#[test]
fn a_service_without_ports_has_nothing_that_leads_to_it() {
    for expose in [None, Some(vec![])] {
        let objects = objects(&plain(Sent { expose, ..web() }), &settings());
        assert!(!objects.keys().any(|name| name.starts_with("Service/")));
        assert_eq!(container(&objects).get("ports"), None);
    }
}

#[test]
fn leased_addresses_open_their_ports_and_are_declared() {
    let leased = |expose: ServiceExpose, ip: &str| ServiceExpose { ip: ip.to_owned(), ..expose };
    let exposes = vec![
        leased(expose(8080, 80, Protocol::Tcp, true), "myip"),
        leased(expose(53, 0, Protocol::Udp, true), "meYOU"),
    ];
    let lease = plain(Sent { expose: Some(exposes), ..web() });
    let objects = objects(&lease, &settings());
    assert_eq!(
        objects["NetworkPolicy/akash-web-ip"]["spec"],
        json!({
            "podSelector": {"matchLabels": {"akash.network/manifest-service": "web"}},
            "policyTypes": ["Ingress"],
            "ingress": [{
                "from": [{"ipBlock": {"cidr": "0.0.0.0/0"}}],
                "ports": [{"port": 8080, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}],
            }],
        })
    );
    assert!(objects.contains_key("NetworkPolicy/akash-web-np"));
    let declared = leased_ips(&lease, &settings()).unwrap();
    let owner = "akash15745vczur53teyxl4k05u250tfvp0lvdcfqx27";
    let names: Vec<_> = declared.iter().map(|one| one.metadata.name.clone().unwrap()).collect();
    assert_eq!(
        names,
        [format!("{owner}-ip-myip-tcp-80"), format!("{owner}-ip-ps9pn7rkocct7m9ivtovuktb-udp-53"),]
    );
    let labels = declared[0].metadata.labels.as_ref().unwrap();
    for (key, value) in [
        ("akash.network", "true"),
        ("akash.network/lease.id.dseq", "5950031"),
        ("service-name", "web"),
        ("external-port", "80"),
        ("proto", "TCP"),
    ] {
        assert_eq!(labels[key], value);
    }
    let spec = serde_json::to_value(&declared[1].spec).unwrap();
    assert_eq!(spec["sharing_key"], format!("{owner}-ip-ps9pn7rkocct7m9ivtovuktb"));
    assert_eq!((&spec["port"], &spec["external_port"]), (&json!(53), &json!(53)));
    assert_eq!(spec["lease_id"]["dseq"], "5950031");
}

#[test]
fn permissions_give_an_account_rules_and_a_way_to_the_api_server() {
    let read = ["events", "logs", "events", "deployment"].map(str::to_owned).to_vec();
    let permissions = Some(ServicePermissions { read });
    let params = Some(ServiceParams { permissions, ..ServiceParams::default() });
    let objects = objects(&plain(Sent { params, ..web() }), &settings());
    let resources: Vec<_> = objects["Role/web"]["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule["resources"][0].as_str().unwrap())
        .collect();
    assert_eq!(resources, ["events", "pods", "pods/log", "deployments"]);
    let egress = json!([{
        "ports": [{"port": 6443, "protocol": "TCP"}],
        "to": [
            {"ipBlock": {"cidr": "10.0.0.1/32"}},
            {"ipBlock": {"cidr": "fd00::1/128"}},
        ],
    }]);
    assert_eq!(objects["NetworkPolicy/akash-apiserver-web"]["spec"]["egress"], egress);
    let pod = &objects["Deployment/web"]["spec"]["template"]["spec"];
    assert_eq!(
        (&pod["serviceAccountName"], &pod["automountServiceAccountToken"]),
        (&json!("web"), &json!(true))
    );
}

#[test]
fn a_login_of_the_service_wins_over_the_providers_secret() {
    let settings = Settings { pull_secret: Some("regcred".to_owned()), ..settings() };
    let secret = |service: Sent| {
        let objects = objects(&plain(service), &settings);
        objects["Deployment/web"]["spec"]["template"]["spec"]["imagePullSecrets"].clone()
    };
    assert_eq!(secret(web()), json!([{"name": "regcred"}]));
    let credentials =
        Some(ImageCredentials { host: "r".to_owned(), ..ImageCredentials::default() });
    assert_eq!(secret(Sent { credentials, ..web() }), json!([{"name": "docker-creds-web"}]));
}

#[test]
fn hostnames_that_are_withheld_are_not_declared() {
    let hostnames = Some(vec!["A.example.com".to_owned(), "b.example.com".to_owned()]);
    let exposes = vec![ServiceExpose { hosts: hostnames, ..expose(80, 0, Protocol::Tcp, true) }];
    let lease = plain(Sent { expose: Some(exposes), ..web() });
    let names = |settings: &Settings, withheld: &[String]| -> Vec<String> {
        let hosts = hosts(&lease, settings, withheld, Default::default());
        hosts.into_iter().map(|host| host.metadata.name.unwrap()).collect()
    };
    let generated = "7fcrm5778tbmd590gjbfcad0gk.ingress.example.com";
    assert_eq!(names(&settings(), &[]), [generated, "a.example.com", "b.example.com"]);
    let none = Settings { generated_hosts: None, ..settings() };
    assert_eq!(names(&none, &["b.example.com".to_owned()]), ["a.example.com"]);
}

#[test]
fn without_policies_there_are_none() {
    let settings = Settings { network_policies: None, ..settings() };
    let objects = objects(&plain(web()), &settings);
    assert!(!objects.keys().any(|name| name.starts_with("NetworkPolicy/")));
}

/// What a value has that another one does not have, or has otherwise: pointer and value.
fn added(value: &Value, other: Option<&Value>, at: &str, found: &mut Vec<(String, Value)>) {
    match (value, other) {
        (value, Some(other)) if value == other => {}
        (Value::Object(map), Some(Value::Object(other))) => {
            for (key, value) in map {
                added(value, other.get(key), &format!("{at}/{key}"), found);
            }
        }
        (Value::Array(list), Some(Value::Array(other))) => {
            for (index, value) in list.iter().enumerate() {
                added(value, other.get(index), &format!("{at}/{index}"), found);
            }
        }
        _ => found.push((at.to_owned(), value.clone())),
    }
}

#[test]
fn the_hardened_profile_adds_these_fields_and_nothing_else() {
    let isolation = Isolation {
        profile: PodProfile::Hardened,
        denied: vec!["203.0.113.0/24".parse().unwrap(), "100.64.0.0/10".parse().unwrap()],
        ..Isolation::default()
    };
    let mut stateful = web();
    stateful.name = "db".to_owned();
    let persistent = [("persistent", "true"), ("class", "beta2")];
    stateful.resources.storage = Some(vec![volume("data", 1024, &persistent)]);
    for (service, workload) in [(web(), "Deployment/web"), (stateful, "StatefulSet/db")] {
        let lease = plain(service);
        let go = objects(&lease, &settings());
        let hardened = objects(&lease, &Settings { isolation: isolation.clone(), ..settings() });
        let of = |objects: &BTreeMap<String, Value>| objects.keys().cloned().collect::<Vec<_>>();
        assert_eq!(of(&hardened), of(&go));
        let mut found = Vec::new();
        for (name, object) in &hardened {
            added(object, go.get(name), name, &mut found);
            let mut lost = Vec::new();
            added(&go[name], Some(object), name, &mut lost);
            assert_eq!(lost, [], "{name}");
        }
        let pod = format!("{workload}/spec/template/spec");
        let egress = "NetworkPolicy/akash-deployment-restrictions/spec/egress";
        let dns = json!([{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}]);
        let cache = json!({"cidr": "169.254.0.0/16", "except": ["169.254.169.254/32"]});
        let mut expected = [
            (format!("{pod}/securityContext/seccompProfile"), json!({"type": "RuntimeDefault"})),
            (
                format!("{pod}/containers/0/securityContext/capabilities"),
                json!({"drop": ["NET_RAW", "MKNOD"]}),
            ),
            (
                format!("Namespace/{NAMESPACE}/metadata/annotations"),
                json!({"akash.network/tenant-pod-profile": "hardened"}),
            ),
            (format!("{egress}/2/to/0/ipBlock/except/3"), json!("169.254.0.0/16")),
            (format!("{egress}/2/to/0/ipBlock/except/4"), json!("100.64.0.0/10")),
            (format!("{egress}/2/to/0/ipBlock/except/5"), json!("203.0.113.0/24")),
            (format!("{egress}/3"), json!({"ports": dns, "to": [{"ipBlock": cache}]})),
        ];
        let by_name = |one: &(String, Value), other: &(String, Value)| one.0.cmp(&other.0);
        expected.sort_by(by_name);
        found.sort_by(by_name);
        assert_eq!(found, expected);
    }
}

#[test]
fn a_runtime_class_is_recorded_and_gives_way_to_the_one_that_cards_need() {
    let runtime_class = Some("gvisor".to_owned());
    let isolation = Isolation { runtime_class, ..Isolation::default() };
    let settings = Settings { isolation, ..settings() };
    let class = |lease: &Lease| {
        let objects = objects(lease, &settings);
        let recorded = &objects[&format!("Namespace/{NAMESPACE}")]["metadata"]["annotations"];
        assert_eq!(recorded, &json!({"akash.network/tenant-runtime-class": "gvisor"}));
        objects["Deployment/web"]["spec"]["template"]["spec"]["runtimeClassName"].clone()
    };
    assert_eq!(class(&plain(web())), "gvisor");
    let mut lease = plain(web());
    let needs = |class: &str| SchedulerParams {
        runtime_class: class.to_owned(),
        ..SchedulerParams::default()
    };
    lease.services[0].scheduler = Some(needs("nvidia"));
    assert_eq!(class(&lease), "nvidia");
    lease.services[0].scheduler = Some(needs("none"));
    assert_eq!(class(&lease), "gvisor");
}
