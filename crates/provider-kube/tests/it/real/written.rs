//! Recorded deployments on a real API server: written fresh, over what the Go provider made, adopted
//! and torn down.

use std::collections::BTreeMap;
use std::sync::Arc;

use akash_types::{LeaseId, LeaseState};
use kube_access::ResourceKind;
use kube_bed::Bed;
use provider_crd::names;
use provider_engine::cluster::command::{Operation, Workload};
use provider_engine::cluster::port::{Changes, Execute, Inspect, Observe};
use provider_engine::cluster::view::{LeaseView, ViewChange};
use provider_engine::reconcile::Evidence;
use provider_kube::KubeDriver;
use provider_testkit::kube::{Case, as_stored, built, without_what_varies, workload};
use serde_json::Value;

use crate::bed::{self, api_server, driver, get, post, writes};

const CASES: [&str; 11] = [
    "01-basic",
    "02-two-services",
    "02-two-services/update/after",
    "02-two-services/update/after-3s",
    "04-nodeports",
    "05-storage",
    "06-gpu",
    "07-credentials",
    "09-permissions",
    "flags-B/03-hostnames-b",
    "gateway-api/01-basic",
];

/// All cases, with a cluster for each. A lease was recorded more than once, and has its namespace
/// only once: who meets it again gets another cluster.
async fn cases() -> Vec<(&'static str, Case, Arc<Bed>)> {
    let mut beds: Vec<(Arc<Bed>, Vec<LeaseId>)> = Vec::new();
    let mut cases = Vec::new();
    for name in CASES {
        let case = case(name);
        let free = beds.iter().position(|(_, taken)| !taken.contains(&case.lease));
        let place = match free {
            Some(place) => place,
            None => {
                beds.push((Arc::new(api_server().await), Vec::new()));
                beds.len() - 1
            }
        };
        beds[place].1.push(case.lease);
        cases.push((name, case, Arc::clone(&beds[place].0)));
    }
    cases
}

fn case(name: &str) -> Case {
    Case::recorded(name).unwrap()
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn path(object: &Value) -> (String, String) {
    let kind = ResourceKind::named(text(object, "/kind")).unwrap();
    let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str);
    let all = kind.path(namespace);
    let one = format!("{all}/{}", text(object, "/metadata/name"));
    (all, one)
}

/// What the Go provider itself writes of a case, without what an API server fills in.
fn go_objects(case: &Case) -> Vec<Value> {
    let ours = built(case).unwrap();
    let objects = ours.iter().map(|object| {
        let name = object.metadata().name.clone().unwrap();
        let recorded = case.find(object.kind(), &name).unwrap().clone();
        without_what_varies(recorded)
    });
    objects.collect()
}

/// Puts the Go provider's objects of a case into the cluster. Revisions are numbers of this cluster.
async fn put_go_objects(bed: &Bed, case: &Case) -> Vec<Value> {
    let mut objects = go_objects(case);
    let manifest = objects.iter().position(|object| text(object, "/kind") == "Manifest").unwrap();
    let manifest = objects.remove(manifest);
    let stored = post(bed, &path(&manifest).0, &manifest).await.unwrap();
    let revision = text(&stored, "/metadata/resourceVersion").to_owned();
    let mut put = vec![stored];
    for object in objects {
        let as_here = object.to_string().replace(
            &format!("\"akash.network/manifest.resource.version\":\"{}\"", case.revision()),
            &format!("\"akash.network/manifest.resource.version\":\"{revision}\""),
        );
        let object: Value = serde_json::from_str(&as_here).unwrap();
        put.push(post(bed, &path(&object).0, &object).await.unwrap());
    }
    put
}

async fn seen(driver: &KubeDriver, case: &Case) -> Option<LeaseView> {
    match driver.observe().next().await {
        ViewChange::Whole(view) => view.leases.get(&case.lease).cloned(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_recorded_case_is_written_fresh_and_each_object_once() {
    for (name, case, bed) in cases().await {
        let (driver, counts) = driver(&bed, case.settings.clone()).await;
        let sent = Arc::new(workload(&case).unwrap());
        driver.execute(Operation::Deploy(Arc::clone(&sent))).await.unwrap();

        let ours = built(&case).unwrap();
        let client = counts.lock().unwrap().clone();
        let made: usize = writes(&counts).values().sum();
        assert_eq!(made, ours.len(), "{name}: {:?}", writes(&counts));
        assert!(
            !client.keys().any(|call| call.ends_with("s-get")
                && !call.starts_with("endp")
                && !call.starts_with("namespaces")),
            "{name}: {client:?}"
        );

        // What is stored is what the Go provider's objects are.
        let manifest = get(
            &bed,
            &path(case.find("Manifest", &names::lease_namespace(&case.lease)).unwrap()).1,
        )
        .await
        .unwrap();
        let revision = text(&manifest, "/metadata/resourceVersion").to_owned();
        for object in ours {
            let object_name = object.metadata().name.clone().unwrap();
            let recorded = case.find(object.kind(), &object_name).unwrap();
            let stored = get(&bed, &path(recorded).1).await.unwrap();
            assert_eq!(
                comparable(&stored, &revision),
                comparable(recorded, case.revision()),
                "{name}: {} {object_name}",
                object.kind()
            );
        }
        let view = seen(&driver, &case).await.unwrap();
        let held = view.held.unwrap();
        assert!(held.deployed, "{name}");
        assert_eq!(held.version, sent.version, "{name}");

        // Once more changes nothing.
        let before = writes(&counts);
        driver.execute(Operation::Deploy(sent)).await.unwrap();
        assert_eq!(writes(&counts), before, "{name}");
    }
}

/// An object without what differs between two clusters.
fn comparable(object: &Value, revision: &str) -> Value {
    let text = without_what_varies(object.clone()).to_string();
    let mut value: Value = serde_json::from_str(&text.replace(
        &format!("manifest.resource.version\":\"{revision}\""),
        "manifest.resource.version\":\"this\"",
    ))
    .unwrap();
    let annotations = value.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
    if let Some(annotations) = annotations {
        annotations.remove("akash.network/lease.updated_at");
        annotations.remove("akash.network/manifest.version");
        if annotations.is_empty() {
            value["metadata"].as_object_mut().unwrap().remove("annotations");
        }
    }
    as_stored(value)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_go_provider_made_is_adopted_without_a_write() {
    for (name, case, bed) in cases().await {
        let before = put_go_objects(&bed, &case).await;
        let (driver, counts) = driver(&bed, case.settings.clone()).await;
        let view = seen(&driver, &case).await.unwrap();
        let held = view.held.unwrap();
        assert!(held.deployed, "{name}: what is there counts as deployed");

        // What the engine knows of it is what is held.
        let same = Workload {
            version: held.version,
            group: held.group,
            cards: held.cards,
            ..workload(&case).unwrap()
        };
        driver.execute(Operation::Deploy(Arc::new(same.clone()))).await.unwrap();
        driver.execute(Operation::Hold(Arc::new(same))).await.unwrap();
        assert_eq!(writes(&counts), BTreeMap::new(), "{name}");
        for object in before {
            let now = get(&bed, &path(&object).1).await.unwrap();
            assert_eq!(
                text(&now, "/metadata/resourceVersion"),
                text(&object, "/metadata/resourceVersion"),
                "{name}: {} {}",
                text(&object, "/kind"),
                text(&object, "/metadata/name")
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_update_leaves_out_is_gone_from_what_the_go_provider_made() {
    let mut tried = 0;
    for (name, case, bed) in cases().await {
        put_go_objects(&bed, &case).await;
        let (driver, _) = driver(&bed, case.settings.clone()).await;
        let held = driver.manifest(case.lease).await.unwrap();
        let mut update = Workload { cards: held.cards, ..workload(&case).unwrap() };
        let group = Arc::make_mut(&mut update.group);
        let mut gone = Vec::new();
        for service in &mut group.services {
            let env = service.env.as_mut().and_then(Vec::pop);
            let port = match service.expose.as_mut() {
                Some(exposes) if exposes.len() > 1 => exposes.pop(),
                _ => None,
            };
            gone.push((service.name.clone(), env, port));
        }
        driver.execute(Operation::Deploy(Arc::new(update.clone()))).await.unwrap();
        let namespace = names::lease_namespace(&case.lease);
        for (service, env, port) in gone {
            let set = format!("/apis/apps/v1/namespaces/{namespace}/statefulsets/{service}");
            let deployment = format!("/apis/apps/v1/namespaces/{namespace}/deployments/{service}");
            let workload = match get(&bed, &set).await {
                Ok(set) => set,
                Err(_) => get(&bed, &deployment).await.unwrap(),
            };
            let container = &workload["spec"]["template"]["spec"]["containers"][0];
            if let Some(env) = env {
                let (key, _) = env.split_once('=').unwrap_or((&env, ""));
                let known = container["env"].as_array().unwrap();
                assert!(!known.iter().any(|it| it["name"] == key), "{name} {service}: {key}");
                tried += 1;
            }
            if let Some(port) = port {
                let wanted = update.group.services.iter().find(|it| it.name == service).unwrap();
                let left = wanted.expose.as_ref().unwrap();
                let known = container["ports"].as_array().unwrap();
                assert_eq!(known.len(), left.len(), "{name} {service}: {}", port.port);
                tried += 1;
            }
        }
        let view = seen(&driver, &case).await.unwrap();
        assert!(view.held.unwrap().deployed, "{name}");
    }
    assert!(tried >= 9, "only {tried} entries were removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_teardown_deletes_everything_that_carries_the_lease() {
    let bed = api_server().await;
    let case = case("flags-B/03-hostnames-b");
    let (driver, counts) = driver(&bed, case.settings.clone()).await;
    driver.execute(Operation::Deploy(Arc::new(workload(&case).unwrap()))).await.unwrap();
    let other = Case { lease: other_lease(&case), ..case.clone() };
    let held = Workload { lease: other.lease, ..workload(&case).unwrap() };
    driver.execute(Operation::Hold(Arc::new(held))).await.unwrap();

    let evidence = Evidence::new(LeaseState::Closed, None, 1, 2).unwrap();
    let teardown = Operation::Teardown { lease: case.lease, evidence };
    driver.execute(teardown).await.unwrap();
    let own = "/apis/akash.network/v2beta2/namespaces/lease";
    let hosts = get(&bed, &format!("{own}/providerhosts")).await.unwrap();
    assert_eq!(hosts["items"], serde_json::json!([]));
    let manifests = get(&bed, &format!("{own}/manifests")).await.unwrap();
    let left: Vec<_> = manifests["items"].as_array().unwrap().iter().collect();
    assert_eq!(left.len(), 1, "the other lease stays");
    assert_eq!(text(left[0], "/metadata/name"), names::lease_namespace(&other.lease));
    let namespace = names::lease_namespace(&case.lease);
    let namespace = get(&bed, &format!("/api/v1/namespaces/{namespace}")).await.unwrap();
    assert_eq!(namespace["status"]["phase"], "Terminating");
    // Nobody here lets a namespace go: the view says that it is on its way.
    bed::until("the end", async || {
        seen(&driver, &case).await.is_some_and(|view| view.terminating && view.held.is_none())
    })
    .await;
    let deletes: usize = writes(&counts)
        .iter()
        .filter(|(call, _)| call.contains("-delete"))
        .map(|(_, count)| count)
        .sum();
    assert_eq!(deletes, 4);
}

fn other_lease(case: &Case) -> LeaseId {
    let id = case.lease.to_string();
    let dseq = case.lease.dseq().to_string();
    id.replacen(&dseq, &(case.lease.dseq() + 1).to_string(), 1).parse().unwrap()
}
