use std::collections::BTreeMap;

use provider_api::status::Readiness;

use super::super::{Format, Metrics, Snapshot};
use super::{Seen, samples};

/// A reader of the text, as strict as Prometheus is: names and values by family.
fn read(page: &str) -> BTreeMap<String, (String, Vec<(String, f64)>)> {
    let mut families = BTreeMap::new();
    let mut current: Option<(String, String)> = None;
    let mut helped = String::new();
    assert!(page.ends_with('\n'));
    for line in page.lines() {
        if line == "# EOF" {
            assert!(page.ends_with("# EOF\n"));
        } else if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(!help.is_empty());
            helped = name.to_owned();
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert_eq!(name, helped);
            assert!(families.insert(name.to_owned(), (kind.to_owned(), Vec::new())).is_none());
            current = Some((name.to_owned(), kind.to_owned()));
        } else {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let (name, kind) = current.clone().unwrap();
            let bare = series.split('{').next().unwrap();
            let suffixes: &[&str] = match kind.as_str() {
                "histogram" => &["_bucket", "_sum", "_count"],
                "counter" => &["", "_total"],
                _ => &[""],
            };
            let fits = suffixes.iter().any(|suffix| bare == format!("{name}{suffix}"));
            assert!(fits, "{line} under {name}");
            families.get_mut(&name).unwrap().1.push((series.to_owned(), value.parse().unwrap()));
        }
    }
    families
}

fn busy() -> Seen {
    let seen = Seen::default();
    seen.metrics.kube_call("odd \"action\"\\\n", true);
    seen
}

#[test]
fn the_plain_text_reads_and_keeps_the_names_of_the_contract() {
    let page = busy().page();
    let families = read(&page);
    let (kind, calls) = &families["provider_kube_calls"];
    assert_eq!(kind, "counter");
    let escaped = "provider_kube_calls{action=\"odd \\\"action\\\"\\\\\\n\",result=\"success\"}";
    assert_eq!(calls[..], [(escaped.to_owned(), 1.0)]);
    let names: Vec<_> = families.keys().collect();
    assert!(names.is_sorted());
    assert!(!page.contains("# EOF"));
}

#[test]
fn openmetrics_keeps_the_names_and_drops_types_that_it_has_no_name_for() {
    let seen = busy();
    let process = super::super::ProcessStats {
        cpu: Some(std::time::Duration::from_millis(1_500)),
        ..Default::default()
    };
    let snapshot = Snapshot { process: Some(&process), ..Snapshot::default() };
    let page = seen.metrics.render(&snapshot, Format::OpenMetrics);
    let families = read(&page);
    assert_eq!(families["provider_kube_calls"].0, "unknown");
    let (kind, cpu) = &families["process_cpu_seconds"];
    assert_eq!(kind, "counter");
    assert_eq!(cpu[..], [("process_cpu_seconds_total".to_owned(), 1.5)]);
    assert!(page.contains("provider_bid_pricing_duration_bucket{le=\"150000.0\"} 0\n"));
    assert!(page.ends_with("# EOF\n"));
}

#[test]
fn the_format_follows_the_accept_header() {
    let prometheus = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1";
    for (accept, format) in [
        ("", Format::Prometheus),
        ("*/*", Format::Prometheus),
        ("text/plain", Format::Prometheus),
        (prometheus, Format::OpenMetrics),
        ("application/openmetrics-text", Format::OpenMetrics),
        ("application/openmetrics-text; q=0.0, text/plain", Format::Prometheus),
        ("application/openmetrics-textual", Format::Prometheus),
    ] {
        assert_eq!(Format::accepted_by(accept), format, "{accept}");
    }
}

#[test]
fn nothing_is_said_of_what_is_not_known() {
    let page = Metrics::new().render(&Snapshot::default(), Format::Prometheus);
    assert_eq!(samples(&page, "provider_chain_height"), [""; 0]);
    assert_eq!(samples(&page, "provider_ready"), [""; 0]);
    for ready in [false, true] {
        let readiness = Readiness { ready, ..Readiness::default() };
        let snapshot = Snapshot { readiness: Some(&readiness), ..Snapshot::default() };
        let page = Metrics::new().render(&snapshot, Format::default());
        assert_eq!(samples(&page, "provider_ready"), [u8::from(ready).to_string()]);
    }
    assert_eq!(samples(&page, "provider_store_healthy"), [""; 0]);
    assert_eq!(samples(&page, "provider_build_info").len(), 1);
}
