//! Routes and filters of NGINX Gateway Fabric on a real API server. The test plays the gateway.

use std::time::Duration;

use kube_access::ResourceKind;
use kube_bed::Bed;
use provider_crd::names;
use provider_operators::hostname::Settings;
use serde_json::{Value, json};

use crate::bed::{api_server, get, post, until};
use crate::common::{
    self, case, define, define_routes, gateway, hosts, merged, name, put, put_custom, recorded,
    start_as,
};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The kinds that a gateway of NGINX Gateway Fabric brings.
async fn define_gateway(bed: &Bed) {
    define_routes(bed).await;
    define(bed, DEFINITIONS, ResourceKind::GATEWAY, "Namespaced", false).await;
    define(bed, DEFINITIONS, ResourceKind::GATEWAY_CLASS, "Cluster", false).await;
    define(bed, DEFINITIONS, ResourceKind::SNIPPETS_FILTER, "Namespaced", true).await;
    common::put_namespace(bed, "akash-gateway").await;
}

/// A gateway of NGINX Gateway Fabric.
async fn serve_gateway(bed: &Bed) {
    let object = |kind: ResourceKind, name: &str, namespace: Option<&str>, spec: Value| {
        let metadata = json!({"name": name, "namespace": namespace});
        json!({"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata, "spec": spec})
    };
    let controller = json!({"controllerName": "gateway.nginx.org/nginx-gateway-controller"});
    let class = object(ResourceKind::GATEWAY_CLASS, "nginx", None, controller);
    post(bed, &ResourceKind::GATEWAY_CLASS.path(None), &class).await.unwrap();
    let spec = json!({"gatewayClassName": "nginx"});
    let gateway = object(ResourceKind::GATEWAY, "akash-gateway", Some("akash-gateway"), spec);
    put(bed, ResourceKind::GATEWAY, &gateway).await;
}

async fn only(bed: &Bed, kind: ResourceKind, host: &str) -> Option<Value> {
    let listed = get(bed, &kind.path(None)).await.unwrap();
    let mut items = listed["items"].as_array().unwrap().iter();
    items.find(|item| name(item) == host).cloned()
}

async fn accept(bed: &Bed, filter: &Value) {
    let namespace = filter["metadata"]["namespace"].as_str();
    let path = format!("{}/{}/status", ResourceKind::SNIPPETS_FILTER.path(namespace), name(filter));
    let generation = &filter["metadata"]["generation"];
    let status = json!({"status": {"controllers": [{"conditions": [
        {"type": "Accepted", "status": "True", "observedGeneration": generation}]}]}});
    merged(bed, &path, &status).await;
}

fn reference(route: &Value) -> &Value {
    &route["spec"]["rules"][0]["filters"][0]["extensionRef"]["name"]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_waits_for_its_filter_and_is_served_without_one_that_is_not_accepted() {
    let bed = api_server().await;
    define_gateway(&bed).await;
    serve_gateway(&bed).await;
    crate::bed::provider(&bed).await;
    let case = case("01-basic");
    put_custom(&bed, &case).await;
    let host = name(&hosts(&case)[0]).to_owned();
    let user = "system:serviceaccount:akash-services:operator-hostname";
    let kubeconfig = bed.kubeconfig_of(user, None).unwrap();
    let patient = Settings { filter_patience: Duration::from_secs(120), ..gateway() };
    let operator = start_as(&kubeconfig, patient).await;

    // The route comes first, without anything to serve, and owns its filter.
    until("the filter", async || only(&bed, ResourceKind::SNIPPETS_FILTER, &host).await.is_some())
        .await;
    let filter = only(&bed, ResourceKind::SNIPPETS_FILTER, &host).await.unwrap();
    let route = only(&bed, ResourceKind::HTTP_ROUTE, &host).await.unwrap();
    assert_eq!(route["spec"], json!({}));
    let owner = &filter["metadata"]["ownerReferences"][0];
    assert_eq!((&owner["uid"], &owner["controller"]), (&route["metadata"]["uid"], &json!(true)));
    let value = filter["spec"]["snippets"][0]["value"].as_str().unwrap();
    assert!(value.contains("proxy_read_timeout 60000ms;"), "{value}");
    accept(&bed, &filter).await;
    let routed = async || only(&bed, ResourceKind::HTTP_ROUTE, &host).await.unwrap();
    until("the route", async || reference(&routed().await) == &json!(host)).await;
    assert_eq!(routed().await["spec"]["hostnames"], json!([host]));

    // Other options are another filter; the route stays as it is.
    let before = routed().await;
    let namespace = names::lease_namespace(&case.lease);
    let manifest = recorded(&case, ResourceKind::MANIFEST).remove(0);
    let mut services = manifest["spec"]["group"]["services"].clone();
    services[0]["expose"][0]["http_options"]["read_timeout"] = json!(3_600_000);
    let path = format!("{}/{namespace}", ResourceKind::MANIFEST.path(Some("lease")));
    merged(&bed, &path, &json!({"spec": {"group": {"services": services}}})).await;
    let changed = async || only(&bed, ResourceKind::SNIPPETS_FILTER, &host).await.unwrap();
    until("the other filter", async || {
        changed().await["spec"].to_string().contains("proxy_read_timeout 3600000ms;")
    })
    .await;
    accept(&bed, &changed().await).await;
    operator.quiet().await;
    assert_eq!(
        routed().await["metadata"]["resourceVersion"],
        before["metadata"]["resourceVersion"]
    );
    drop(operator);

    // Directives are switched off: the host is served without them, and it is said why.
    let generation = json!({"status": {"controllers": []}});
    let path = format!("{}/{host}/status", ResourceKind::SNIPPETS_FILTER.path(Some(&namespace)));
    merged(&bed, &path, &generation).await;
    let hasty = Settings { filter_patience: Duration::from_millis(300), ..gateway() };
    let operator = start_as(&kubeconfig, hasty).await;
    until("the plain route", async || {
        let route = routed().await;
        reference(&route).is_null() && route["spec"]["hostnames"] == json!([host])
    })
    .await;
    operator.quiet().await;
    let ask = common::serve(&operator).await;
    let (_, body) = ask("GET", "/managed-hostnames").await;
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body[&host]["Condition"]["Name"], "SnippetsNotAccepted");
    assert_eq!(body[&host]["Condition"]["Options"], json!(["read_timeout", "send_timeout"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_is_made_after_the_operator_began_gets_its_filters() {
    let bed = api_server().await;
    define_gateway(&bed).await;
    crate::bed::provider(&bed).await;
    let case = case("01-basic");
    put_custom(&bed, &case).await;
    let host = name(&hosts(&case)[0]).to_owned();
    let user = "system:serviceaccount:akash-services:operator-hostname";
    let kubeconfig = bed.kubeconfig_of(user, None).unwrap();
    let patient = Settings { filter_patience: Duration::from_secs(120), ..gateway() };
    let operator = start_as(&kubeconfig, patient).await;
    until("the plain route", async || only(&bed, ResourceKind::HTTP_ROUTE, &host).await.is_some())
        .await;
    operator.quiet().await;
    assert_eq!(only(&bed, ResourceKind::SNIPPETS_FILTER, &host).await, None);

    serve_gateway(&bed).await;
    until("the filter", async || only(&bed, ResourceKind::SNIPPETS_FILTER, &host).await.is_some())
        .await;
    accept(&bed, &only(&bed, ResourceKind::SNIPPETS_FILTER, &host).await.unwrap()).await;
    until("the route with its filter", async || {
        reference(&only(&bed, ResourceKind::HTTP_ROUTE, &host).await.unwrap()) == &json!(host)
    })
    .await;
}
