//! Routes equal those that the Go operator made, and what it made is left alone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::{Path, PathBuf};

use provider_crd::{Manifest, ProviderHost};
use provider_kube::client::Kind;
use provider_kube::merge::{Merged, Occasion, merge};
use provider_operators::hostname::build::route;
use provider_operators::hostname::claim::Claim;
use provider_operators::hostname::offer::Offer;
use provider_operators::hostname::settings::{Routes, Settings};
use provider_testkit::kube::{Case, compare_routes, documents, without_what_varies};
use serde_json::Value;

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

fn folder(case: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kubernetes").join(case)
}

fn of_kind(objects: &[Value], kind: Kind) -> Vec<Value> {
    objects.iter().filter(|object| object["kind"] == kind.name).cloned().collect()
}

/// The recorded routes of a case, and those that we make of its custom resources.
fn both(name: &str) -> (Vec<Value>, Vec<Value>) {
    let case = Case::read(&folder(name)).unwrap();
    let (routes, recorded) = if name.starts_with("gateway-api") {
        let text = std::fs::read_to_string(folder(name).join("httproutes.yaml")).unwrap();
        let list = documents(&text).unwrap().remove(0);
        let gateway = || "akash-gateway".to_owned();
        let routes = Routes::Gateway {
            name: gateway(),
            namespace: gateway(),
            buffer_size: "16k".to_owned(),
        };
        (routes, list["items"].as_array().unwrap().clone())
    } else {
        (Settings::default().routes, of_kind(&case.objects, Kind::INGRESS))
    };
    let manifest = of_kind(&case.custom, Kind::MANIFEST).remove(0);
    let manifest: Manifest = serde_json::from_value(manifest).unwrap();
    let offer = Offer::of(&manifest).unwrap();
    let hosts = of_kind(&case.custom, Kind::HOST).into_iter();
    let built = hosts.map(|host| {
        let host: ProviderHost = serde_json::from_value(host).unwrap();
        let claim = Claim::of(&host).unwrap();
        route(&claim, offer.port(&claim.service, claim.port).unwrap(), &routes)
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

#[test]
fn the_comparison_finds_what_differs_and_what_is_there_only_once() {
    for name in CASES {
        let case = Case::read(&folder(name)).unwrap();
        let differences = compare_routes(&case).unwrap();
        assert!(differences.is_empty(), "{name}: {}", differences[0]);

        let mut other = case.clone();
        let routes = other.objects.iter_mut().chain(&mut other.routes);
        let mut routes = routes.filter(|it| it["kind"] == "Ingress" || it["kind"] == "HTTPRoute");
        routes.next().unwrap()["metadata"]["labels"]["akash.network/lease.id.dseq"] = "1".into();
        assert_eq!(compare_routes(&other).unwrap().len(), 1, "{name}");

        let mut other = case.clone();
        other.custom.retain(|object| object["kind"] != Kind::HOST.name);
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
