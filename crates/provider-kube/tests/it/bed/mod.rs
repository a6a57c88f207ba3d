//! A real API server for the driver: the one place where the bed is taken from.
//!
//! The driver has the rights of `deploy/kubernetes/rbac.yaml` there, the tests themselves have all.
#![allow(dead_code, reason = "each test program uses a part of it")]

pub(crate) mod kubelet;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube_access::{Access, Counter};
use kube_bed::{Bed, Node};
use provider_crd::custom_resource_definitions;
use provider_kube::KubeDriver;
use provider_kube::settings::Settings;
use provider_testkit::kube::documents;
use serde_json::{Value, json};

/// Calls of the API server by what was called.
pub(crate) type Counts = Arc<Mutex<BTreeMap<String, usize>>>;

/// A cluster without anything that runs pods.
pub(crate) async fn api_server() -> Bed {
    prepared(Bed::api_server().await.unwrap()).await
}

/// A cluster that makes pods of workloads and clears up what is deleted.
pub(crate) async fn control_plane() -> Bed {
    prepared(Bed::control_plane().await.unwrap()).await
}

/// A cluster with a node on which pods run.
pub(crate) async fn node() -> Node {
    let node = Node::start().await.unwrap();
    prepare(&node).await;
    // As the inventory operator would say.
    let class = "akash.network/capabilities.storage.class.beta2";
    let labels = json!({"akash.network": "true", class: "1"});
    let ours = json!({"metadata": {"labels": labels}}).to_string();
    let nodes = get(&node, "/api/v1/nodes").await.unwrap();
    let name = nodes["items"][0]["metadata"]["name"].as_str().unwrap();
    let request = http::Request::patch(format!("/api/v1/nodes/{name}"))
        .header("content-type", "application/merge-patch+json")
        .body(ours.into_bytes())
        .unwrap();
    node.client().request::<Value>(request).await.unwrap();
    node
}

async fn prepared(bed: Bed) -> Bed {
    prepare(&bed).await;
    bed
}

/// Puts in what an operator installs: kinds, namespaces, rights.
async fn prepare(bed: &Bed) {
    for definition in custom_resource_definitions() {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        post(bed, path, &definition).await.unwrap();
    }
    for name in ["lease", "akash-services"] {
        let namespace = json!({"metadata": {"name": name}});
        post(bed, "/api/v1/namespaces", &namespace).await.unwrap();
    }
    grant(bed).await;
    // A kind is served a moment after it was defined.
    for plural in ["manifests", "providerhosts", "providerleasedips"] {
        let path = format!("/apis/akash.network/v2beta2/namespaces/lease/{plural}");
        until(plural, async || get(bed, &path).await.is_ok()).await;
    }
}

/// Puts the rights of `deploy/` into the cluster, and nothing else of it.
async fn grant(bed: &Bed) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/kubernetes/rbac.yaml");
    let text = std::fs::read_to_string(file).unwrap();
    for object in documents(&text).unwrap() {
        let kind = object["kind"].as_str().unwrap();
        let group = match object["apiVersion"].as_str().unwrap() {
            "v1" => "/api/v1".to_owned(),
            group => format!("/apis/{group}"),
        };
        let plural = format!("{}s", kind.to_lowercase());
        let path = match object["metadata"]["namespace"].as_str() {
            Some(namespace) => format!("{group}/namespaces/{namespace}/{plural}"),
            None => format!("{group}/{plural}"),
        };
        post(bed, &path, &object).await.unwrap();
    }
}

/// The way of a service account, which has only the rights that it was given.
pub(crate) async fn account(bed: &Bed, namespace: &str, name: &str) -> Access {
    let user = format!("system:serviceaccount:{namespace}:{name}");
    let kubeconfig = bed.kubeconfig_of(&user, None).unwrap();
    Access::find(&kubeconfig, &akash_net::Outbound::default()).await.unwrap()
}

/// The provider's way: a call outside of the rights in `deploy/` is refused, and what needed it
/// fails.
pub(crate) async fn provider(bed: &Bed) -> Access {
    account(bed, "akash-services", "akash-provider").await
}

/// A driver on a bed, which has seen everything, and its calls.
pub(crate) async fn driver(bed: &Bed, settings: Settings) -> (KubeDriver, Counts) {
    connect(&provider(bed).await, settings).await
}

pub(crate) async fn connect(access: &Access, settings: Settings) -> (KubeDriver, Counts) {
    let counts = Counts::default();
    let counting = Arc::clone(&counts);
    let counter: Counter = Arc::new(move |action: &str, _| {
        *counting.lock().unwrap().entry(action.to_owned()).or_default() += 1;
    });
    let driver = KubeDriver::connect(access, settings, counter).await.unwrap();
    assert!(driver.is_known_within(Duration::from_secs(30)).await, "nothing is known");
    (driver, counts)
}

/// How many calls were writes, by what was called.
pub(crate) fn writes(counts: &Counts) -> BTreeMap<String, usize> {
    let counts = counts.lock().unwrap();
    let is_write = |action: &str| {
        ["-create", "-update", "-delete", "-delete-collection"]
            .iter()
            .any(|verb| action.ends_with(verb))
    };
    counts.iter().filter(|(action, _)| is_write(action)).map(|(a, n)| (a.clone(), *n)).collect()
}

pub(crate) async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    // Longer than anything takes, however busy the machine is.
    let deadline = tokio::time::Instant::now() + Duration::from_secs(120);
    while !holds().await {
        assert!(tokio::time::Instant::now() < deadline, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(crate) async fn get(bed: &Bed, path: &str) -> Result<Value, kube::Error> {
    let request = http::Request::get(path).body(Vec::new()).unwrap();
    bed.client().request(request).await
}

pub(crate) async fn post(bed: &Bed, path: &str, object: &Value) -> Result<Value, kube::Error> {
    let request = http::Request::post(path).header("content-type", "application/json");
    let request = request.body(object.to_string().into_bytes()).unwrap();
    bed.client().request(request).await
}

pub(crate) async fn put(bed: &Bed, path: &str, object: &Value) -> Result<Value, kube::Error> {
    let request = http::Request::put(path).header("content-type", "application/json");
    let request = request.body(object.to_string().into_bytes()).unwrap();
    bed.client().request(request).await
}
