//! Recorded cases, and an operator on a bed.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kube_access::{Access, Counter, KubeClient, ResourceKind};
use kube_bed::Bed;
use provider_crd::names;
use provider_operators::Listener;
use provider_operators::hostname::rest::{self, Rest};
use provider_operators::hostname::{HostnameOperator, Routes, Settings};
use provider_testkit::kube::{Case, without_what_varies};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;

use crate::bed::{Counts, get, post, until, writes};

/// Cases whose leases are different ones.
pub(crate) const CASES: [&str; 8] = [
    "01-basic",
    "02-two-services",
    "04-nodeports",
    "05-storage",
    "06-gpu",
    "07-credentials",
    "09-permissions",
    "flags-B/03-hostnames-b",
];

pub(crate) fn case(name: &str) -> Case {
    Case::recorded(name).unwrap()
}

pub(crate) fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

/// Recorded objects of a kind.
pub(crate) fn recorded(case: &Case, kind: ResourceKind) -> Vec<Value> {
    let objects = case.objects.iter().chain(&case.custom);
    let of_kind = objects.filter(|object| object["kind"] == kind.name);
    of_kind.cloned().map(without_what_varies).collect()
}

pub(crate) fn recorded_routes(case: &str) -> Vec<Value> {
    self::case(case).routes.into_iter().map(without_what_varies).collect()
}

/// What the Go operator answered, head and body.
pub(crate) fn recorded_answer(name: &str) -> String {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/gateway");
    let file = all.join("hostname-operator").join(format!("{name}.http"));
    std::fs::read_to_string(file).unwrap().replace("\r\n", "\n")
}

pub(crate) fn hosts(case: &Case) -> Vec<Value> {
    recorded(case, ResourceKind::HOST)
}

pub(crate) async fn put(bed: &Bed, kind: ResourceKind, object: &Value) {
    let namespace = object["metadata"]["namespace"].as_str();
    post(bed, &kind.path(namespace), object).await.unwrap();
}

pub(crate) async fn put_namespace(bed: &Bed, name: &str) {
    let namespace = json!({"metadata": {"name": name}});
    post(bed, "/api/v1/namespaces", &namespace).await.unwrap();
}

/// What the provider writes before there are routes.
pub(crate) async fn put_custom(bed: &Bed, case: &Case) {
    put_namespace(bed, &names::lease_namespace(&case.lease)).await;
    for kind in [ResourceKind::MANIFEST, ResourceKind::HOST] {
        for object in recorded(case, kind) {
            put(bed, kind, &object).await;
        }
    }
}

pub(crate) async fn merged(bed: &Bed, path: &str, patch: &Value) {
    let mut patch = patch.clone();
    if let Some(metadata) = patch.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
        metadata.remove("managedFields");
    }
    let request = http::Request::patch(path)
        .header("content-type", "application/merge-patch+json")
        .body(patch.to_string().into_bytes())
        .unwrap();
    bed.client().request::<Value>(request).await.unwrap();
}

pub(crate) async fn delete(bed: &Bed, path: &str) {
    let request = http::Request::delete(path).body(Vec::new()).unwrap();
    bed.client().request::<Value>(request).await.unwrap();
}

/// All Ingresses, in the order of their names.
pub(crate) async fn ingresses(bed: &Bed) -> Vec<Value> {
    let listed = get(bed, &ResourceKind::INGRESS.path(None)).await.unwrap();
    let items = listed["items"].as_array().unwrap().iter().cloned();
    let mut items: Vec<_> = items
        .map(|mut item| {
            item["kind"] = ResourceKind::INGRESS.name.into();
            item["apiVersion"] = ResourceKind::INGRESS.api_version.into();
            without_what_varies(item)
        })
        .collect();
    items.sort_by_key(|item| name(item).to_owned());
    items
}

/// The part of the Gateway API that is used, without its schema.
pub(crate) async fn define_routes(bed: &Bed) {
    let definition = json!({
        "metadata": {
            "name": "httproutes.gateway.networking.k8s.io",
            // The API server wants to know who approved a name of its own.
            "annotations": {"api-approved.kubernetes.io": "unapproved, test-only"},
        },
        "spec": {
            "group": "gateway.networking.k8s.io", "scope": "Namespaced",
            "names": {"kind": "HTTPRoute", "listKind": "HTTPRouteList", "plural": "httproutes",
                "singular": "httproute"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema":
                {"openAPIV3Schema": {"type": "object",
                    "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    post(bed, path, &definition).await.unwrap();
    let path = ResourceKind::HTTP_ROUTE.path(None);
    until("the kind", async || get(bed, &path).await.is_ok()).await;
}

/// A kind without a schema, with a status of its own or not.
pub(crate) async fn define(
    bed: &Bed,
    path: &str,
    kind: ResourceKind,
    scope: &str,
    has_status: bool,
) {
    let (group, version) = kind.api_version.split_once('/').unwrap();
    let (singular, list) = (kind.name.to_lowercase(), format!("{}List", kind.name));
    let status = if has_status { json!({"status": {}}) } else { json!({}) };
    let definition = json!({
        "metadata": {
            "name": format!("{}.{group}", kind.plural),
            "annotations": {"api-approved.kubernetes.io": "unapproved, test-only"},
        },
        "spec": {
            "group": group, "scope": scope,
            "names": {"kind": kind.name, "listKind": list, "plural": kind.plural,
                "singular": singular},
            "versions": [{"name": version, "served": true, "storage": true,
                "subresources": status, "schema": {"openAPIV3Schema": {"type": "object",
                    "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    });
    post(bed, path, &definition).await.unwrap();
    let listed = kind.path(None);
    until("the kind", async || get(bed, &listed).await.is_ok()).await;
}

pub(crate) fn gateway() -> Settings {
    let gateway = || "akash-gateway".to_owned();
    let routes =
        Routes::Gateway { name: gateway(), namespace: gateway(), buffer_size: "16k".to_owned() };
    Settings { routes, retry_delay: Duration::from_millis(200), ..Settings::default() }
}

/// An operator at work. Dropped, it is killed.
pub(crate) struct Running {
    pub(crate) inner: HostnameOperator,
    counts: Counts,
    task: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Running {
    /// How many calls it made. Watches are none, nor is looking for a kind that is not there.
    pub(crate) fn calls(&self) -> usize {
        let is_other = |action: &str| action.starts_with("httproutes-");
        let counts = self.counts.lock().unwrap();
        counts.iter().filter(|(action, _)| !is_other(action)).map(|(_, count)| count).sum()
    }

    /// Waits until there is nothing left to do.
    pub(crate) async fn quiet(&self) {
        until("quiet", async || self.inner.index().is_quiet()).await;
    }
}

pub(crate) async fn start(bed: &Bed, settings: Settings) -> Running {
    start_as(bed.kubeconfig(), settings).await
}

pub(crate) async fn start_as(kubeconfig: &Path, settings: Settings) -> Running {
    let access = Access::find(kubeconfig, &akash_net::Outbound::default()).await.unwrap();
    let counts = Counts::default();
    let counting = Arc::clone(&counts);
    let counter: Counter = Arc::new(move |action: &str, _| {
        *counting.lock().unwrap().entry(action.to_owned()).or_default() += 1;
    });
    let client = KubeClient::new(access.client().unwrap(), Duration::from_secs(10), counter);
    let retry_delay = Duration::from_millis(200);
    let inner = HostnameOperator::new(client, Settings { retry_delay, ..settings });
    let working = inner.clone();
    let task = tokio::spawn(async move {
        working.run().await;
    });
    Running { inner, counts, task }
}

pub(crate) fn writes_of(running: &Running) -> BTreeMap<String, usize> {
    writes(&running.counts)
}

/// Serves what the operator tells; asks it with a method and a path, for head and body.
pub(crate) async fn serve(
    running: &Running,
) -> impl AsyncFn(&str, &str) -> (String, String) + use<> {
    let version = r#"{"name":"akash"}"#.to_owned();
    let rest = Rest::new(running.inner.clone(), version, Duration::ZERO, None);
    let listener = Listener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let address = listener.local_address().unwrap();
    tokio::spawn(async move { match rest::serve(listener, rest).await {} });
    async move |method: &str, path: &str| {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let request = format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }
}
