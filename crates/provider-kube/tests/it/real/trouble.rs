//! An API server that is silent, ends connections, refuses or is written to by others.

use std::sync::Arc;
use std::time::Duration;

use kube_access::Access;
use kube_bed::Bed;
use provider_crd::names;
use provider_engine::cluster::command::{CommandFailure, Operation, Workload};
use provider_engine::cluster::port::{Changes, Execute, Inspect, Observe, ReadFailure};
use provider_engine::cluster::view::ViewChange;
use provider_kube::settings::Settings;
use provider_testkit::kube::{Case, workload};
use provider_testkit::proxy::{Mode, Proxy};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::bed::{self, api_server, connect, control_plane, driver, get, post, until, writes};

fn case(name: &str) -> Case {
    Case::recorded(name).unwrap()
}

/// A lease like the recorded one, with another number.
fn another(case: &Case, number: u64) -> Workload {
    let id = case.lease.to_string();
    let dseq = case.lease.dseq();
    let lease = id.replacen(&dseq.to_string(), &(dseq + number).to_string(), 1);
    Workload { lease: lease.parse().unwrap(), ..workload(case).unwrap() }
}

async fn through_proxy(bed: &Bed) -> (Access, Proxy) {
    let url: http::Uri = bed.url().parse().unwrap();
    let target = url.authority().unwrap().as_str().parse().unwrap();
    let proxy = Proxy::start(target).await.unwrap();
    let access = bed::provider(bed).await;
    (access.at(format!("https://{}", proxy.address()).parse().unwrap()), proxy)
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_is_told_and_so_is_its_end_with_everything_that_is_there() {
    let bed = api_server().await;
    let (access, proxy) = through_proxy(&bed).await;
    let case = case("01-basic");
    let (driver, counts) = connect(&access, case.settings.clone()).await;
    driver.execute(Operation::Deploy(Arc::new(another(&case, 0)))).await.unwrap();
    let mut changes = driver.observe();
    let ViewChange::Whole(before) = changes.next().await else { panic!() };
    let written = writes(&counts);

    for (broken, limit) in [(Mode::Blackhole(None), 12), (Mode::Reset, 6)] {
        proxy.set(broken);
        let begun = Instant::now();
        let told = timeout(Duration::from_secs(limit), changes.next()).await;
        assert_eq!(told, Ok(ViewChange::Lost), "{broken:?}");
        println!("{broken:?} was told after {:?}", begun.elapsed());
        let status = driver.status(case.lease).await;
        assert!(matches!(status, Err(ReadFailure::Unavailable(_))), "{status:?}");
        // What happens meanwhile is seen afterwards. Connections that were silent stay dead.
        proxy.set_open(Mode::Reset);
        proxy.set(Mode::Pass);
        let told = timeout(Duration::from_secs(30), changes.next()).await;
        assert_eq!(told, Ok(ViewChange::Whole(before.clone())), "{broken:?}");
    }
    assert_eq!(writes(&counts), written, "nothing was written for it");
}

#[tokio::test(flavor = "multi_thread")]
async fn ended_watches_are_begun_again_and_miss_nothing() {
    let bed = api_server().await;
    let (access, proxy) = through_proxy(&bed).await;
    let case = case("01-basic");
    let (watching, counts) = connect(&access, case.settings.clone()).await;
    let (writing, _) = driver(&bed, case.settings.clone()).await;
    for number in 0..5 {
        // Every connection ends; what is written just then is told by the next.
        proxy.set_open(Mode::Reset);
        let held = another(&case, number);
        writing.execute(Operation::Hold(Arc::new(held.clone()))).await.unwrap();
        until("the lease", async || watching.manifest(held.lease).await.is_ok()).await;
    }
    let lists = counts.lock().unwrap().get("manifests-list").copied();
    assert_eq!(lists, Some(2), "once to see whether there are any, once to begin");
}

#[tokio::test(flavor = "multi_thread")]
async fn admission_that_refuses_one_lease_leaves_the_others_alone() {
    let bed = api_server().await;
    let case = case("01-basic");
    let (good, bad) = (another(&case, 0), another(&case, 1));
    let namespace = names::lease_namespace(&bad.lease);
    let policy = json!({
        "metadata": {"name": "no"},
        "spec": {
            "matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"],
                "operations": ["CREATE"], "resources": ["deployments"]}]},
            "validations": [{"expression": format!("object.metadata.namespace != '{namespace}'"),
                "message": "not this one"}],
        },
    });
    let binding = json!({"metadata": {"name": "no"},
        "spec": {"policyName": "no", "validationActions": ["Deny"]}});
    let group = "/apis/admissionregistration.k8s.io/v1";
    post(&bed, &format!("{group}/validatingadmissionpolicies"), &policy).await.unwrap();
    post(&bed, &format!("{group}/validatingadmissionpolicybindings"), &binding).await.unwrap();
    let (driver, _) = driver(&bed, case.settings.clone()).await;
    // A policy is in force a moment after it was made.
    let refused = tokio::sync::Mutex::new(String::new());
    until("the refusal", async || {
        match driver.execute(Operation::Deploy(Arc::new(bad.clone()))).await {
            Err(CommandFailure::Refused(why)) => {
                *refused.lock().await = why;
                true
            }
            other => {
                assert_eq!(other, Ok(()));
                let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/web");
                let request = http::Request::delete(path).body(Vec::new()).unwrap();
                let _ = bed.client().request::<Value>(request).await;
                tokio::time::sleep(Duration::from_millis(200)).await;
                false
            }
        }
    })
    .await;
    let why = refused.into_inner();
    assert!(why.contains("Deployment web") && why.contains("not this one"), "{why}");
    assert_eq!(driver.execute(Operation::Deploy(Arc::new(good))).await, Ok(()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_else_wrote_meanwhile_is_read_again_and_kept() {
    let bed = api_server().await;
    let case = case("01-basic");
    let (one, _) = driver(&bed, case.settings.clone()).await;
    one.execute(Operation::Deploy(Arc::new(another(&case, 0)))).await.unwrap();
    let namespace = names::lease_namespace(&case.lease);
    let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/web");
    for number in 0..5 {
        // Whatever the watch has told by now, the label of somebody else stays.
        let label = json!({"metadata": {"labels": {"team": number.to_string()}}}).to_string();
        let request = http::Request::patch(&path)
            .header("content-type", "application/merge-patch+json")
            .body(label.into_bytes())
            .unwrap();
        bed.client().request::<Value>(request).await.unwrap();
        let mut update = another(&case, 0);
        let service = Arc::make_mut(&mut update.group).services.first_mut().unwrap();
        service.image = format!("localhost/other:{number}");
        update.version = Some(akash_sdl::Version::from([number; 32]));
        one.execute(Operation::Deploy(Arc::new(update))).await.unwrap();
        let stored = get(&bed, &path).await.unwrap();
        assert_eq!(stored["metadata"]["labels"]["team"], number.to_string());
        let image = &stored["spec"]["template"]["spec"]["containers"][0]["image"];
        assert_eq!(*image, format!("localhost/other:{number}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_services_than_are_deployed_are_refused_and_touch_nothing() {
    let bed = api_server().await;
    let case = case("01-basic");
    let (driver, counts) = driver(&bed, case.settings.clone()).await;
    let deployed = another(&case, 0);
    let renamed = |to: &str| {
        let mut other = deployed.clone();
        to.clone_into(&mut Arc::make_mut(&mut other.group).services[0].name);
        other.version = Some(akash_sdl::Version::from([1; 32]));
        Arc::new(other)
    };
    // As long as nothing was deployed, the tenant may think again.
    driver.execute(Operation::Hold(renamed("first"))).await.unwrap();
    driver.execute(Operation::Deploy(Arc::new(deployed.clone()))).await.unwrap();
    let before = writes(&counts);
    for operation in [Operation::Hold(renamed("api")), Operation::Deploy(renamed("api"))] {
        let refused = driver.execute(operation).await;
        let Err(CommandFailure::Refused(why)) = refused else { panic!("{refused:?}") };
        assert!(why.contains("cannot be added, removed or renamed"), "{why}");
    }
    assert_eq!(writes(&counts), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_gets_past_a_pod_of_a_stateful_set_that_never_started() {
    let bed = control_plane().await;
    let case = case("05-storage");
    let (driver, _) = driver(&bed, case.settings.clone()).await;
    let first = another(&case, 0);
    driver.execute(Operation::Deploy(Arc::new(first.clone()))).await.unwrap();
    let path = format!("/api/v1/namespaces/{}/pods", names::lease_namespace(&case.lease));
    // Which revision each pod of the lease is of. There is no node: none of them ever starts.
    let revisions = async || -> Vec<String> {
        let pods = get(&bed, &path).await.unwrap();
        let labels = pods["items"].as_array().unwrap().iter().map(|pod| &pod["metadata"]["labels"]);
        labels.map(|it| it["akash.network/manifest.resource.version"].to_string()).collect()
    };
    until("its pods", async || !revisions().await.is_empty()).await;
    let before = revisions().await;
    until("the driver sees them", async || {
        let status = driver.status(case.lease).await.unwrap();
        status.services.iter().any(|service| service.counts.existing > 0)
    })
    .await;
    let mut update = first;
    for service in &mut Arc::make_mut(&mut update.group).services {
        service.image = "localhost/repaired:1".to_owned();
    }
    update.version = Some(akash_sdl::Version::from([1; 32]));
    driver.execute(Operation::Deploy(Arc::new(update))).await.unwrap();
    until("the new pods", async || {
        let now = revisions().await;
        !now.is_empty() && now.iter().all(|revision| !before.contains(revision))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_not_prepared_says_what_is_missing() {
    let bed = Bed::api_server().await.unwrap();
    let access = Access::find(bed.kubeconfig(), &akash_net::Outbound::default()).await.unwrap();
    let said = async || {
        let counter = Arc::new(|_: &str, _: bool| {});
        let settings = Settings::default();
        let connected = provider_kube::KubeDriver::connect(&access, settings, counter).await;
        let error = connected.expect_err("it is not prepared");
        (error.to_string(), error.may_pass())
    };
    let (why, may_pass) = said().await;
    assert!(why.contains("namespace \"lease\" does not exist"), "{why}");
    assert!(!may_pass);
    post(&bed, "/api/v1/namespaces", &json!({"metadata": {"name": "lease"}})).await.unwrap();
    let (why, _) = said().await;
    assert!(why.contains("does not know Manifest"), "{why}");
}
