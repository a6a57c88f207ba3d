use std::collections::BTreeSet;

use super::super::table::all;
use super::super::{Format, Kind, Metrics, Snapshot};

const GUIDE: &str = include_str!("../../../../../docs/metrics.md");

/// Every name of the contract, with its type and its labels.
const CONTRACT: [(&str, &str, &[&str]); 19] = [
    ("provider_order_handler", "counter", &["action"]),
    ("provider_order_manager", "gauge", &[]),
    ("provider_bid", "counter", &["action", "result"]),
    ("provider_bid_pricing_duration", "histogram", &[]),
    ("provider_reservation_duration", "histogram", &[]),
    ("provider_reservation", "counter", &["action", "result"]),
    ("provider_should_bid", "counter", &["result"]),
    ("provider_order_complete", "counter", &["result"]),
    ("provider_manifest_manager", "gauge", &[]),
    ("provider_order_watchdog", "gauge", &[]),
    ("provider_deployment_manager", "gauge", &[]),
    ("provider_deployment", "counter", &["action", "result"]),
    ("provider_deployment_monitor", "counter", &["action"]),
    ("provider_deployment_monitor_health", "counter", &["state"]),
    ("provider_inventory_requests", "counter", &["action", "result"]),
    ("provider_inventory_reservations_total", "gauge", &["classification", "quantity"]),
    ("provider_inventory_allocatable_total", "gauge", &["quantity"]),
    ("provider_inventory_available_total", "gauge", &["quantity"]),
    ("provider_kube_calls", "counter", &["action", "result"]),
];

#[test]
fn every_metric_of_the_contract_is_there_with_its_type_and_labels() {
    let all = all();
    for (name, kind, labels) in CONTRACT {
        let found = all.iter().find(|metric| metric.name == name);
        let found = found.unwrap_or_else(|| panic!("{name} is missing"));
        let names: Vec<_> = found.labels.iter().map(|(name, _)| *name).collect();
        assert_eq!((found.kind.as_str(), &names[..]), (kind, labels), "{name}");
    }
}

#[test]
fn the_guide_lists_every_metric_and_nothing_else() {
    let written: BTreeSet<&str> = GUIDE
        .lines()
        .filter(|line| line.starts_with("| `provider_") || line.starts_with("| `process_"))
        .collect();
    let rows: Vec<String> = all().iter().map(|metric| metric.row()).collect();
    let expected: BTreeSet<&str> = rows.iter().map(String::as_str).collect();
    assert_eq!(written, expected, "docs/metrics.md should hold:\n{}", rows.join("\n"));
}

#[test]
fn names_are_well_formed_and_nobody_has_two() {
    let all = all();
    let names: BTreeSet<_> = all.iter().map(|metric| metric.name).collect();
    assert_eq!(names.len(), all.len());
    for metric in &all {
        let texts = metric.labels.iter().map(|(name, _)| *name).chain([metric.name]);
        for text in texts {
            let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(text.chars().all(good), "{text}");
        }
        if let Kind::Histogram(bounds) = metric.kind {
            assert!(bounds.is_sorted_by(|a, b| a < b), "{}", metric.name);
        }
    }
}

#[test]
fn families_with_labels_appear_once_they_were_used() {
    let metrics = Metrics::new();
    let page = || metrics.render(&Snapshot::default(), Format::Prometheus);
    assert!(!page().contains("provider_kube_calls"));
    assert!(page().contains("\nprovider_leases_spared 0\n"));
    assert!(page().contains("\nprovider_bid_pricing_duration_count 0\n"));
    metrics.kube_call("manifests-get", false);
    metrics.kube_call("manifests-get", false);
    let line = "\nprovider_kube_calls{action=\"manifests-get\",result=\"fail\"} 2\n";
    assert!(page().contains(line), "{}", page());
}
