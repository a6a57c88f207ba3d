use std::sync::Arc;

use akash_types::LeaseId;
use k8s_openapi::api::core::v1::Pod;
use kube_access::ResourceKind;
use kube_access::merge::Occasion;
use kube_access::scripted::{Answer, Scripted, json as says};
use provider_crd::{Manifest, labels, names};
use provider_engine::cluster::command::{CommandFailure, Workload};
use serde_json::{Value, json};

use super::deploy::{stale, steps, stuck, write};
use super::maintain;
use super::under_way::UnderWay;
use super::write::Writer;
use crate::build::{self, Object};
use crate::resolve::Lease;
use crate::settings::{IngressMode, NetworkPolicies, Overcommit, Settings};
use crate::watch::{CachedObject, MEMORY, NamespaceEntry, Shared, Trimmed, parts};

const LEASE: &str = "akash15745vczur53teyxl4k05u250tfvp0lvdcfqx27/5950031/1/1/akash1xmz9es9ay9ln9x2m3q8dlu0alxf0ltce7ykjfx";

fn id() -> LeaseId {
    LEASE.parse().unwrap()
}

fn settings() -> Settings {
    let api_server = vec![([10, 0, 0, 1], 443).into()];
    Settings {
        network_policies: Some(NetworkPolicies { api_server }),
        generated_hosts: Some("example.com".to_owned()),
        ..Settings::default()
    }
}

/// A lease with one service.
fn manifest(ports: Value, login: bool) -> Manifest {
    let parts: Vec<&str> = LEASE.split('/').collect();
    let mut service = json!({
        "name": "web", "image": "x", "count": 1, "expose": ports,
        "params": {"permissions": {"read": ["logs"]}},
        "resources": {"id": 1, "cpu": {"units": 100}, "gpu": {"units": 0},
            "memory": {"size": "1024"}, "storage": [{"name": "default", "size": "1024"}]},
    });
    if login {
        service["credentials"] =
            json!({"host": "h", "email": "", "username": "u", "password": "p"});
    }
    serde_json::from_value(json!({
        "metadata": {"name": names::lease_namespace(&id()), "resourceVersion": "7"},
        "spec": {
            "lease_id": {"owner": parts[0], "dseq": parts[1], "gseq": 1, "oseq": 1,
                "provider": parts[4]},
            "group": {"name": "g", "services": [service]},
        },
    }))
    .unwrap()
}

/// The same, and everything that it is built of.
fn lease(ports: Value, login: bool) -> (Lease, Vec<Object>) {
    let lease = Lease::of(&manifest(ports, login)).unwrap();
    let mut objects = build::workload(&lease, &settings()).unwrap();
    let hosts = build::hosts(&lease, &settings(), &[], Default::default());
    objects.extend(hosts.into_iter().map(Object::from));
    (lease, objects)
}

fn entry(objects: &[Object]) -> NamespaceEntry {
    let mut entry = NamespaceEntry::default();
    for object in objects {
        let shown = CachedObject::new(object.to_json().unwrap()).unwrap();
        entry.put(ResourceKind::named(object.kind()).unwrap(), Arc::new(shown));
    }
    entry
}

fn http_and_port() -> Value {
    json!([
        {"port": 80, "proto": "TCP", "global": true, "hosts": ["a.example"]},
        {"port": 2222, "proto": "TCP", "global": true},
    ])
}

#[test]
fn what_a_pod_needs_is_written_before_it() {
    let (_, objects) = lease(http_and_port(), true);
    let kinds = steps(objects).map(|step| {
        let mut kinds: Vec<_> = step.iter().map(Object::kind).collect();
        kinds.dedup();
        kinds
    });
    assert_eq!(kinds[0], ["Namespace"]);
    assert_eq!(kinds[1], ["NetworkPolicy", "ServiceAccount", "Role", "Secret"]);
    assert_eq!(kinds[2], ["RoleBinding", "Service"]);
    assert_eq!(kinds[3], ["ProviderHost"]);
    assert_eq!(kinds[4], ["Deployment"]);
}

/// As a Go provider from #419 to #433 leaves a lease: its `Manifest` is newer than the rest.
#[test]
fn a_lease_counts_as_written_under_other_settings_but_not_for_another_manifest() {
    let (_, objects) = lease(http_and_port(), false);
    let is_deployed = |ports, image: &str, settings: &Settings| {
        let mut again = Object::from(manifest(ports, false)).to_json().unwrap();
        again["metadata"]["resourceVersion"] = "8".into();
        again["spec"]["group"]["services"][0]["image"] = image.into();
        let mut entry = entry(&objects);
        // The API server stores this under two names.
        let mut stored = entry.json("Deployment", "web").unwrap();
        stored["spec"]["template"]["spec"]["serviceAccount"] = "web".into();
        entry.put(ResourceKind::DEPLOYMENT, Arc::new(CachedObject::new(stored).unwrap()));
        entry.put(ResourceKind::MANIFEST, Arc::new(CachedObject::new(again).unwrap()));
        parts::is_deployed(&entry, settings)
    };
    let gateway = ("gateway".to_owned(), "gateways".to_owned());
    let others = [
        Settings { public_hostname: "ours.example".to_owned(), ..settings() },
        Settings { overcommit: Overcommit { cpu: 100, memory: 100, storage: 100 }, ..settings() },
        Settings { pull_secret: Some("registry".to_owned()), ..settings() },
        Settings { generated_hosts: Some("ours.example".to_owned()), ..settings() },
        Settings { generated_hosts: None, ..settings() },
        Settings {
            ingress: IngressMode::GatewayApi { name: gateway.0, namespace: gateway.1 },
            ..settings()
        },
        Settings {
            network_policies: Some(NetworkPolicies {
                api_server: vec![([10, 0, 0, 2], 6443).into()],
            }),
            ..settings()
        },
        Settings { network_policies: None, ..settings() },
        settings(),
    ];
    let mut inside = http_and_port();
    inside[0]["global"] = false.into();
    inside[0]["hosts"] = json!([]);
    for settings in others {
        assert!(is_deployed(http_and_port(), "x", &settings), "{settings:?}");
        assert!(!is_deployed(http_and_port(), "y", &settings), "{settings:?}");
        assert!(!is_deployed(inside.clone(), "x", &settings), "{settings:?}");
        let mut more = http_and_port();
        more[0]["hosts"] = json!(["b.example"]);
        assert!(!is_deployed(more, "x", &settings), "{settings:?}");
    }
}

#[test]
fn what_the_next_manifest_does_not_ask_for_goes() {
    let (_, before) = lease(http_and_port(), true);
    let (after, wanted) =
        lease(json!([{"port": 80, "proto": "TCP", "global": true, "hosts": ["b.example"]}]), false);
    let entry = entry(&before);
    let gone = |settings: &Settings, withheld: &[String]| -> Vec<String> {
        let found = stale(&entry, &after, &wanted, withheld, settings);
        found.iter().map(|(kind, shown)| format!("{} {}", kind.name, shown.name)).collect()
    };
    let all = [
        "NetworkPolicy akash-web-np",
        "Secret docker-creds-web",
        "Service web-np",
        "ProviderHost a.example",
    ];
    assert_eq!(gone(&settings(), &[]), all);
    // A name that another lease has now is that one's; policies that are off stay.
    let off = Settings { network_policies: None, ..settings() };
    assert_eq!(gone(&off, &["a.example".to_owned()]), [all[1], all[2]]);
    // Nothing is stale where nothing changed.
    let (same, wanted) = lease(http_and_port(), true);
    assert_eq!(stale(&entry, &same, &wanted, &[], &settings()), []);
}

#[test]
fn a_service_at_a_leased_address_is_the_operators() {
    let (lease, wanted) = lease(http_and_port(), false);
    let mut entry = entry(&wanted);
    let service = json!({"metadata": {"name": "web-ip-80", "labels":
        {(labels::MANAGED): "true", (labels::SERVICE_TARGET): "metal-lb"}}});
    entry.put(ResourceKind::SERVICE, Arc::new(CachedObject::new(service).unwrap()));
    assert_eq!(stale(&entry, &lease, &wanted, &[], &settings()), []);
}

fn pod(name: &str, revision: &str, ready: &str, owner: &str) -> Arc<Pod> {
    let pod = json!({
        "metadata": {"name": name, "namespace": "ns", "uid": name,
            "labels": {"controller-revision-hash": revision},
            "ownerReferences": [{"uid": owner, "kind": "", "name": "", "apiVersion": "",
                "controller": true}]},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    });
    // As a watch shows it.
    let Trimmed(pod) = serde_json::from_value(pod).unwrap();
    pod
}

/// The pods that hold up a set whose newest template is `db-2`.
fn held_up_by(change: impl Fn(&mut Value)) -> Vec<String> {
    let mut set = json!({
        "metadata": {"name": "db", "uid": "set", "generation": 4,
            "labels": {(labels::REVISION): "7"}},
        "spec": {"template": {}, "updateStrategy": {"type": "RollingUpdate",
            "rollingUpdate": {"partition": 0}}},
        "status": {"observedGeneration": 4, "updateRevision": "db-2", "replicas": 4},
    });
    change(&mut set);
    let mut entry = NamespaceEntry::default();
    entry.put(ResourceKind::STATEFUL_SET, Arc::new(CachedObject::new(set).unwrap()));
    for (name, revision, ready, owner) in [
        ("broken", "db-1", "False", "set"),
        ("works", "db-1", "True", "set"),
        ("new", "db-2", "False", "set"),
        ("of-another", "db-1", "False", "other"),
    ] {
        entry.pods.insert(name.to_owned(), pod(name, revision, ready, owner));
    }
    stuck(&entry).into_iter().map(|pod| pod.name).collect()
}

#[test]
fn only_an_old_pod_that_does_not_work_holds_up_a_set() {
    assert_eq!(held_up_by(|_| {}), ["broken"]);
}

#[test]
fn the_revision_label_does_not_make_a_pod_old() {
    // A Go provider since #434 labels the set and not its pods: they start as slowly as they like.
    let same = |set: &mut Value| set["status"]["updateRevision"] = json!("db-1");
    assert_eq!(held_up_by(same), ["new"], "only what differs from the controller's revision");
}

#[test]
fn no_pod_is_old_before_the_controller_saw_the_template() {
    let none: [&str; 0] = [];
    assert_eq!(held_up_by(|set| set["metadata"]["generation"] = json!(5)), none);
    assert_eq!(held_up_by(|set| set["status"] = json!({})), none);
}

#[test]
fn pods_that_a_set_does_not_replace_by_itself_stay() {
    let none: [&str; 0] = [];
    let strategy =
        |strategy: Value| held_up_by(move |set| set["spec"]["updateStrategy"] = strategy.clone());
    assert_eq!(strategy(json!({"type": "OnDelete"})), none);
    let partition = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 1}});
    assert_eq!(strategy(partition), none);
}

fn wanted() -> Object {
    let (_, objects) = lease(http_and_port(), false);
    objects.into_iter().next().unwrap()
}

async fn written(answers: Vec<Answer>) -> (Result<bool, CommandFailure>, Vec<String>) {
    let server = Scripted::start(answers).await;
    let shared = Shared::default();
    let writer = Writer { client: &server.client, shared: &shared };
    let written = writer.write(&wanted(), Occasion::Update, |_| {}, || false).await;
    (written.map(|written| written.is_new).map_err(CommandFailure::from), methods(&server))
}

fn fails(code: u16) -> Answer {
    says(code, &json!({"kind": "Status", "code": code, "message": "no"}))
}

fn stored(version: &str, label: &str) -> Answer {
    let mut object = wanted().to_json().unwrap();
    object["metadata"]["resourceVersion"] = version.into();
    object["metadata"]["labels"][labels::REVISION] = label.into();
    says(200, &object)
}

#[tokio::test]
async fn a_busy_api_server_is_asked_again_and_a_refusal_is_not() {
    let (result, asked) = written(vec![fails(500), fails(503), stored("2", "7")]).await;
    assert_eq!((result, asked), (Ok(true), vec!["POST".to_owned(); 3]));
    let (result, asked) = written(vec![fails(422)]).await;
    let Err(CommandFailure::Refused(why)) = result else { panic!("{result:?}") };
    assert!(why.starts_with("Namespace ") && why.ends_with(": no"), "{why}");
    assert_eq!(asked, ["POST"]);
    let (result, asked) = written(vec![fails(500), fails(500), fails(500), fails(500)]).await;
    assert!(matches!(result, Err(CommandFailure::Unavailable(_))), "{result:?}");
    assert_eq!(asked.len(), 4);
}

#[tokio::test]
async fn what_is_there_unseen_is_read_and_written_only_if_it_differs() {
    let (result, asked) = written(vec![fails(409), stored("2", "7")]).await;
    assert_eq!((result, asked), (Ok(false), vec!["POST".to_owned(), "GET".to_owned()]));
    // Somebody is faster twice.
    let (result, asked) = written(vec![
        fails(409),
        stored("2", "old"),
        fails(409),
        stored("3", "older"),
        stored("4", "7"),
    ])
    .await;
    assert_eq!(result, Ok(true));
    assert_eq!(asked, ["POST", "GET", "PUT", "GET", "PUT"]);
}

/// A workload that lists `a.example`, of the lease or of another one.
fn lists(dseq: u64, withheld: &[&str]) -> Workload {
    Workload {
        lease: LEASE.replacen("5950031", &dseq.to_string(), 1).parse().unwrap(),
        version: None,
        group: Arc::new(manifest(http_and_port(), false).spec.group().unwrap()),
        cards: [].into(),
        withheld: withheld.iter().map(|&name| name.to_owned()).collect(),
        endpoints_to_take: vec![],
        ignored: std::collections::BTreeMap::new(),
    }
}

#[test]
fn a_deployment_loses_the_names_of_a_newer_one_of_another_lease() {
    let under_way = UnderWay::default();
    let first = under_way.begin(&lists(1, &[]));
    let _without = under_way.begin(&lists(2, &["A.example"]));
    let again = under_way.begin(&lists(1, &[]));
    assert!(!first.lost("a.example"), "it is the lease's own, and nobody else may have it");
    let newest = under_way.begin(&lists(2, &[]));
    assert!(!newest.lost("a.example") && !first.lost("b.example"));
    // It is lost also when the one that has it is done.
    drop(newest);
    assert!(first.lost("a.example") && again.lost("a.example"));
    // What begins after that was asked for after that.
    assert!(!under_way.begin(&lists(1, &[])).lost("a.example"));
}

/// `a.example` of the lease, and an API server on which two other leases had it, one after another.
async fn moving() -> (Object, Scripted, Shared) {
    let (_, objects) = lease(http_and_port(), false);
    let is_it = |object: &Object| object.metadata().name.as_deref() == Some("a.example");
    let host = objects.into_iter().find(is_it).unwrap();
    let of = |dseq: u64| {
        let mut object = host.to_json().unwrap();
        object["metadata"]["resourceVersion"] = dseq.to_string().into();
        object["spec"]["dseq"] = dseq.into();
        object
    };
    let answers = vec![fails(409), says(200, &of(6)), says(200, &of(id().dseq()))];
    let (server, shared) = (Scripted::start(answers).await, Shared::default());
    shared.wrote(ResourceKind::HOST, CachedObject::new(of(5)).unwrap());
    (host, server, shared)
}

fn methods(server: &Scripted) -> Vec<String> {
    server.asked().iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_name_is_taken_over_unless_a_newer_deployment_has_it() {
    for (newer, written, asked) in
        [(None, 1, &["PUT", "GET", "PUT"][..]), (Some(lists(6, &[])), 0, &[])]
    {
        let (host, server, shared) = moving().await;
        let writer = Writer { client: &server.client, shared: &shared };
        let under_way = UnderWay::default();
        let this = under_way.begin(&lists(id().dseq(), &[]));
        let _newer = newer.map(|newer| under_way.begin(&newer));
        assert_eq!(write(writer, &[host], Occasion::Update, &this).await.unwrap(), written);
        assert_eq!(methods(&server), asked);
    }
}

#[tokio::test]
async fn what_shall_stay_since_it_was_read_again_is_not_written() {
    let (host, server, shared) = moving().await;
    let writer = Writer { client: &server.client, shared: &shared };
    let stays = || server.asked().len() > 1;
    let written = writer.write(&host, Occasion::Update, |_| {}, stays).await.unwrap();
    assert_eq!((written.is_new, written.shown.version.as_str()), (false, "6"));
    assert_eq!(methods(&server), ["PUT", "GET"]);
}

#[tokio::test]
async fn another_writer_of_the_memory_is_not_contended_with_for_ever() {
    let memory = |version: u8| {
        json!({"metadata": {"name": MEMORY, "resourceVersion": version.to_string()},
            "data": {"other": "x", (parts::MAINTENANCE): "false"}})
    };
    let lost = |version| [fails(409), says(200, &memory(version))];
    let maintained = async |answers: Vec<Answer>| {
        let (server, shared) = (Scripted::start(answers).await, Shared::default());
        let writer = Writer { client: &server.client, shared: &shared };
        let done = maintain(writer, &settings(), true).await.map_err(CommandFailure::from);
        (done, methods(&server).join(" "))
    };
    let mut answers = vec![says(200, &memory(1))];
    answers.extend(lost(2));
    answers.push(says(200, &memory(3)));
    assert_eq!(maintained(answers).await, (Ok(()), "GET PUT GET PUT".to_owned()));
    let mut answers = vec![says(200, &memory(1))];
    answers.extend((2..9).flat_map(lost));
    let (done, asked) = maintained(answers).await;
    assert_eq!(done, Err(CommandFailure::Unavailable("no".to_owned())));
    assert_eq!(asked, format!("GET{} PUT", " PUT GET".repeat(5)));
}
