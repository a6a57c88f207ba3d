//! Routes equal those that the Go operator made, and what it made is left alone.

use std::collections::BTreeMap;

use kube_access::ResourceKind;
use kube_access::merge::{Merged, Occasion, merge};
use provider_crd::{Manifest, ProviderHost};
use provider_operators::hostname::build::route;
use provider_operators::hostname::claim::Claim;
use provider_operators::hostname::exposed::ExposedPorts;
use provider_operators::hostname::settings::{Routes, Settings};
use provider_testkit::kube::{Case, compare_routes, without_what_varies};
use serde_json::{Value, json};

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

fn of_kind(objects: &[Value], kind: ResourceKind) -> Vec<Value> {
    objects.iter().filter(|object| object["kind"] == kind.name).cloned().collect()
}

/// The recorded routes of a case, and those that we make of its custom resources.
fn both(name: &str) -> (Vec<Value>, Vec<Value>) {
    let case = Case::recorded(name).unwrap();
    let (routes, recorded) = if name.starts_with("gateway-api") {
        let gateway = || "akash-gateway".to_owned();
        let routes = Routes::Gateway {
            name: gateway(),
            namespace: gateway(),
            buffer_size: "16k".to_owned(),
        };
        (routes, case.routes.clone())
    } else {
        (Settings::default().routes, of_kind(&case.objects, ResourceKind::INGRESS))
    };
    let manifest = of_kind(&case.custom, ResourceKind::MANIFEST).remove(0);
    let manifest: Manifest = serde_json::from_value(manifest).unwrap();
    let exposed = ExposedPorts::of(&manifest).unwrap();
    let hosts = of_kind(&case.custom, ResourceKind::HOST).into_iter();
    let built = hosts.map(|host| {
        let host: ProviderHost = serde_json::from_value(host).unwrap();
        let claim = Claim::of(&host).unwrap();
        route(&claim, exposed.port(&claim.service, claim.port).unwrap(), &routes)
    });
    (recorded, built.collect())
}

fn by_name(mut objects: Vec<Value>) -> Vec<Value> {
    objects.sort_by_key(|object| object["metadata"]["name"].to_string());
    objects
}

#[test]
fn every_recorded_route_is_built_equal() {
    for name in CASES {
        let (recorded, built) = both(name);
        assert!(!recorded.is_empty(), "{name}");
        let recorded = recorded.into_iter().map(without_what_varies).collect();
        assert_eq!(by_name(built), by_name(recorded), "{name}");
    }
}

/// Annotations that a route gets by these options of a `Manifest`, without their prefix.
fn annotations(options: &Value, routes: &Routes) -> BTreeMap<String, String> {
    let case = Case::recorded("01-basic").unwrap();
    let mut manifest = of_kind(&case.custom, ResourceKind::MANIFEST).remove(0);
    manifest["spec"]["group"]["services"][0]["expose"][0]["http_options"] = options.clone();
    let manifest: Manifest = serde_json::from_value(manifest).unwrap();
    let host = of_kind(&case.custom, ResourceKind::HOST).remove(0);
    let claim = Claim::of(&serde_json::from_value(host).unwrap()).unwrap();
    let exposed = ExposedPorts::of(&manifest).unwrap();
    let built = route(&claim, exposed.port(&claim.service, claim.port).unwrap(), routes);
    let found = built["metadata"]["annotations"].as_object().unwrap().iter();
    let short = |key: &str| key.split_once('/').unwrap().1.to_owned();
    found.map(|(key, value)| (short(key), value.as_str().unwrap().to_owned())).collect()
}

#[test]
fn options_become_the_annotations_of_the_contract() {
    let ingress = Routes::Ingress { class: "traefik".to_owned() };
    let gateway = Routes::Gateway {
        name: "edge".to_owned(),
        namespace: "net".to_owned(),
        buffer_size: String::new(),
    };
    let given = |body: u32, times: [u32; 3], tries: u32, cases: &[&str]| {
        let [read, send, next] = times;
        json!({"max_body_size": body, "read_timeout": read, "send_timeout": send,
            "next_timeout": next, "next_tries": tries, "next_cases": cases})
    };
    // Options; then read, send and next timeout, tries, body and cases: of an Ingress, of a gateway.
    for (options, of_ingress, of_gateway) in [
        (
            given(104_857_600, [60_000, 60_001, 999], 5, &["error", "500", "http_502", "off"]),
            ["60", "61", "1", "5", "104857600", "error http_500 http_502 off"],
            ["60", "61", "1s", "5", "104857600", "error http_500 http_502 off"],
        ),
        (
            given(1, [1, 1000, 0], 0, &["timeout", "403", "404", "429", "503", "504"]),
            ["1", "1", "0", "0", "1", "timeout http_403 http_404 http_429 http_503 http_504"],
            ["1", "1", "", "0", "1", "timeout http_403 http_404 http_429 http_503 http_504"],
        ),
        // Numbers that are no status: only an Ingress takes them for one.
        (
            given(u32::MAX, [u32::MAX, 0, u32::MAX], u32::MAX, &["5xx", "299"]),
            ["4294968", "0", "4294968", "4294967295", "4294967295", "http_5xx http_299"],
            ["4294968", "0", "4294968s", "4294967295", "4294967295", "5xx 299"],
        ),
        // Nothing to try again for.
        (
            given(2, [2000, 2000, 2000], 2, &[]),
            ["2", "2", "2", "2", "2", ""],
            ["2", "2", "2s", "2", "2", ""],
        ),
        // Without a size nothing of it counts, as in old Manifests.
        (
            given(0, [1, 1, 1], 9, &["off"]),
            ["60", "60", "60", "3", "1048576", "error timeout"],
            ["60", "60", "60s", "3", "1048576", "error timeout"],
        ),
    ] {
        let keys = |body: &str| {
            ["proxy-read-timeout", "proxy-send-timeout", "proxy-next-upstream-timeout"]
                .into_iter()
                .chain(["proxy-next-upstream-tries", body, "proxy-next-upstream"])
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let wanted = keys("proxy-body-size").into_iter().zip(of_ingress.map(str::to_owned));
        assert_eq!(annotations(&options, &ingress), wanted.collect(), "{options}");
        let wanted = keys("client-max-body-size").into_iter().zip(of_gateway.map(str::to_owned));
        let wanted = wanted.filter(|(_, value)| !value.is_empty());
        assert_eq!(annotations(&options, &gateway), wanted.collect(), "{options}");
    }
}

#[test]
fn the_comparison_finds_what_differs_and_what_is_there_only_once() {
    for name in CASES {
        let case = Case::recorded(name).unwrap();
        let differences = compare_routes(&case).unwrap();
        assert!(differences.is_empty(), "{name}: {}", differences[0]);

        let mut other = case.clone();
        let routes = other.objects.iter_mut().chain(&mut other.routes);
        let mut routes = routes.filter(|it| it["kind"] == "Ingress" || it["kind"] == "HTTPRoute");
        routes.next().unwrap()["metadata"]["labels"]["akash.network/lease.id.dseq"] = "1".into();
        assert_eq!(compare_routes(&other).unwrap().len(), 1, "{name}");

        let mut other = case.clone();
        other.custom.retain(|object| object["kind"] != ResourceKind::HOST.name);
        assert_eq!(compare_routes(&other).unwrap().len(), both(name).0.len(), "{name}");
    }
}

#[test]
fn what_the_go_operator_made_is_left_alone() {
    for name in CASES {
        let (recorded, built) = both(name);
        for (there, wanted) in by_name(recorded).iter().zip(by_name(built)) {
            assert_eq!(merge(there, &wanted, Occasion::Adopt), Ok(Merged::Unchanged), "{name}");
        }
    }
}
