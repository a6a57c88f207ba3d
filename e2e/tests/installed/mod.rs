//! A Kubernetes cluster that is ready for a provider, asked without asynchrony.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::path::{Path, PathBuf};

use anyhow::Result;
use kube_bed::Bed;
use provider_testkit::kube::documents;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

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
    let rights = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/kubernetes/rbac.yaml");
    for object in documents(&std::fs::read_to_string(rights).unwrap()).unwrap() {
        let kind = object["kind"].as_str().unwrap();
        let group = match object["apiVersion"].as_str().unwrap() {
            "v1" => "/api/v1".to_owned(),
            group => format!("/apis/{group}"),
        };
        let place = object["metadata"]["namespace"].as_str();
        let place = place.map(|name| format!("/namespaces/{name}")).unwrap_or_default();
        let path = format!("{group}{place}/{}s", kind.to_lowercase());
        send(runtime, bed, "POST", &path, &object).unwrap();
    }
    bed.kubeconfig_of("system:serviceaccount:akash-services:akash-provider", None).unwrap()
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
