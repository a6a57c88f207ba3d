//! A Kubernetes cluster that is ready for a provider, asked without asynchrony.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use e2e::network::{Network, wait_until};
use kube_bed::{Bed, FakeNode, FakeNodes};
use provider_testkit::kube::documents;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// Longer than anything takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(240);

/// Looks until something is so; the test fails if it never is.
pub(crate) fn insist<T>(what: &str, look: impl FnMut() -> Result<Option<T>>) -> T {
    wait_until(what, LONG, look).unwrap_or_else(|error| panic!("{error:#}"))
}

/// Puts in what an operator installs: kinds, namespaces and the provider's rights. How the provider
/// reaches the cluster: with these rights and no others.
pub(crate) fn install(runtime: &Runtime, bed: &Bed) -> PathBuf {
    for definition in documents(&e2e::program::run(&["crd"], &[]).unwrap()).unwrap() {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        send(runtime, bed, "POST", path, &definition).unwrap();
    }
    for name in ["lease", "akash-services"] {
        let namespace = json!({"metadata": {"name": name}});
        send(runtime, bed, "POST", "/api/v1/namespaces", &namespace).unwrap();
    }
    for object in rights() {
        create(runtime, bed, &object);
    }
    bed.kubeconfig_of("system:serviceaccount:akash-services:akash-provider", None).unwrap()
}

/// The rights of the provider, as objects.
fn rights() -> Vec<Value> {
    let rights = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/kubernetes/rbac.yaml");
    documents(&std::fs::read_to_string(rights).unwrap()).unwrap()
}

fn create(runtime: &Runtime, bed: &Bed, object: &Value) {
    let kind = object["kind"].as_str().unwrap();
    let group = match object["apiVersion"].as_str().unwrap() {
        "v1" => "/api/v1".to_owned(),
        group => format!("/apis/{group}"),
    };
    let place = object["metadata"]["namespace"].as_str();
    let place = place.map(|name| format!("/namespaces/{name}")).unwrap_or_default();
    let path = format!("{group}{place}/{}s", kind.to_lowercase());
    send(runtime, bed, "POST", &path, object).unwrap();
}

/// A namespace in which the provider has the rights that it has in the one of its manifests.
pub(crate) fn add_manifest_namespace(runtime: &Runtime, bed: &Bed, name: &str) {
    let namespace = json!({"metadata": {"name": name}});
    send(runtime, bed, "POST", "/api/v1/namespaces", &namespace).unwrap();
    for mut object in rights() {
        if object["metadata"]["namespace"] == "lease" {
            object["metadata"]["namespace"] = json!(name);
            create(runtime, bed, &object);
        }
    }
}

/// Adds machines that the provider may use and on which nothing runs.
pub(crate) fn add_machines(runtime: &Runtime, bed: &Bed) -> FakeNodes {
    // Where the API server is for pods: a cluster of one machine has no such address.
    let endpoints = json!({
        "metadata": {"name": "kubernetes"},
        "subsets": [{"addresses": [{"ip": "10.240.0.1"}], "ports": [{"port": 6443}]}],
    });
    let path = "/api/v1/namespaces/default/endpoints";
    send(runtime, bed, "POST", path, &endpoints).unwrap();
    let mut nodes = FakeNode::many(4);
    for node in &mut nodes {
        node.labels.insert("akash.network".to_owned(), "true".to_owned());
    }
    runtime.block_on(FakeNodes::start(bed.client(), &nodes)).unwrap()
}

/// Brings deployments, each a number and its SDL, to leases of the provider.
pub(crate) fn take_leases(network: &Network, deployments: &[(String, PathBuf)]) {
    let (tenant, operator) =
        (network.address("tenant").unwrap(), network.address("operator").unwrap());
    let create = |(dseq, sdl): &(String, PathBuf)| {
        let create = ["deployment", "create", sdl.to_str().unwrap(), "--dseq", dseq];
        network.message("tenant", &[&create[..], &["--deposit", "5act"]].concat())
    };
    let messages = deployments.iter().map(create).collect::<Result<Vec<_>>>().unwrap();
    network.tx_of("tenant", &messages).unwrap();
    insist("bids", || {
        let bids = network.ctl(&["bids"])?;
        let bids = bids["bids"].as_array().map_or(0, Vec::len);
        Ok((bids == deployments.len()).then_some(()))
    });
    let accept = |(dseq, _): &(String, PathBuf)| {
        let create = ["market", "lease", "create", "--owner", &tenant, "--dseq", dseq];
        network.message("tenant", &[&create[..], &["--provider", &operator]].concat())
    };
    let messages = deployments.iter().map(accept).collect::<Result<Vec<_>>>().unwrap();
    network.tx_of("tenant", &messages).unwrap();
}

/// What runs for each tenant: the identity of every pod and workload, by its name.
pub(crate) fn running(runtime: &Runtime, bed: &Bed) -> BTreeMap<String, String> {
    let kinds = ["/api/v1/namespaces", "/api/v1/pods", "/apis/apps/v1/deployments"];
    identities(runtime, bed, &kinds)
}

/// The identity of every object that the provider made of some kinds, by its name.
pub(crate) fn identities(runtime: &Runtime, bed: &Bed, kinds: &[&str]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for path in kinds {
        for object in ours(runtime, bed, path).unwrap() {
            let metadata = &object["metadata"];
            let place = metadata["namespace"].as_str().unwrap_or_default();
            let name = format!("{path} {place} {}", metadata["name"].as_str().unwrap());
            let generation = metadata["generation"].as_u64().unwrap_or_default();
            found.insert(name, format!("{} {generation}", metadata["uid"].as_str().unwrap()));
        }
    }
    found
}

pub(crate) fn send(
    runtime: &Runtime,
    bed: &Bed,
    method: &str,
    path: &str,
    body: &Value,
) -> Result<Value> {
    let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let request = http::Request::builder().method(method).uri(path);
    let request = request.header("content-type", kind).body(body.to_string().into_bytes())?;
    Ok(runtime.block_on(bed.client().request(request))?)
}

pub(crate) fn get(runtime: &Runtime, bed: &Bed, path: &str) -> Result<Value> {
    let request = http::Request::get(path).body(Vec::new())?;
    Ok(runtime.block_on(bed.client().request(request))?)
}

/// Objects that the provider made, of a kind.
pub(crate) fn ours(runtime: &Runtime, bed: &Bed, path: &str) -> Result<Vec<Value>> {
    let list = get(runtime, bed, &format!("{path}?labelSelector=akash.network%3Dtrue"))?;
    Ok(list["items"].as_array().cloned().unwrap_or_default())
}
