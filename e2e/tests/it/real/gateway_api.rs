//! A provider whose names lead to services by the Gateway API.

use std::path::PathBuf;

use anyhow::Context;
use e2e::network::{Network, Settings};
use kube_bed::Bed;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::real::installed::{add_machines, get, insist, install, send, take_leases};

const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hello.yaml");
const ROUTES: &str = "/apis/gateway.networking.k8s.io/v1/httproutes";

fn define_routes(runtime: &Runtime, bed: &Bed) {
    let names = json!({
        "kind": "HTTPRoute", "listKind": "HTTPRouteList",
        "plural": "httproutes", "singular": "httproute",
    });
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "metadata": {
            "name": "httproutes.gateway.networking.k8s.io",
            "annotations": {"api-approved.kubernetes.io": "unapproved, test-only"},
        },
        "spec": {
            "group": "gateway.networking.k8s.io", "scope": "Namespaced", "names": names,
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    send(runtime, bed, "POST", path, &definition).unwrap();
    insist("the kind of routes", || get(runtime, bed, ROUTES).map(Some));
}

#[test]
fn routes_of_a_gateway_have_the_buffer_size_that_the_flag_names() {
    let runtime = Runtime::new().unwrap();
    let bed = runtime.block_on(Bed::control_plane()).unwrap();
    let kubeconfig = install(&runtime, &bed);
    let _machines = add_machines(&runtime, &bed);
    define_routes(&runtime, &bed);
    let folder = tempfile::tempdir().unwrap();
    let run = ["--ingress-mode", "gateway-api", "--proxy-buffer-size", "24k"];
    let run = run.map(str::to_owned).to_vec();
    let settings = Settings { kubeconfig: Some(kubeconfig), run, ..Settings::default() };
    let mut network = Network::start(folder.path(), settings).unwrap();
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    assert!(!network.provider_log().contains("proxy-buffer-size (flag)"), "it has an effect");
    take_leases(&network, &[("1".to_owned(), PathBuf::from(HELLO))]);
    insist("a manifest is taken", || network.ctl(&["send-manifest", "1", HELLO]).map(Some));
    let route = insist("a route", || {
        let listed = get(&runtime, &bed, ROUTES)?;
        Ok(listed["items"].as_array().context("no list")?.first().cloned())
    });
    assert_eq!(route["metadata"]["annotations"]["nginx.org/proxy-buffer-size"], "24k", "{route}");
    assert_eq!(route["spec"]["parentRefs"][0]["name"], "akash-gateway", "{route}");
}
