//! What is built equals what the Go provider made, and what it made is left alone.

use kube_access::merge::{Merged, Occasion, merge};
use provider_testkit::kube::{Case, as_stored, built, compare, without_what_varies};
use serde_json::Value;

const CASES: [&str; 12] = [
    "01-basic",
    "02-two-services",
    "02-two-services/update/before",
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

fn case(name: &str) -> Case {
    Case::recorded(name).unwrap()
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[test]
fn every_recorded_case_is_built_equal() {
    for name in CASES {
        let differences = compare(&case(name)).unwrap();
        let shown: Vec<_> = differences.iter().map(ToString::to_string).collect();
        assert!(shown.is_empty(), "{name}:\n{}", shown.join("\n"));
    }
}

/// Pointers of all values in `value` that are no maps or lists, or empty ones.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                leaves(value, &format!("{at}/{key}"), found);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            for (index, value) in list.iter().enumerate() {
                leaves(value, &format!("{at}/{index}"), found);
            }
        }
        _ => found.push(at.to_owned()),
    }
}

#[test]
fn a_change_of_any_recorded_value_is_found() {
    for name in ["05-storage", "09-permissions"] {
        let recorded = case(name);
        let objects = recorded.objects.iter().chain(&recorded.custom).cloned().collect::<Vec<_>>();
        let mut changed = 0;
        for (index, object) in objects.iter().enumerate() {
            let kind = text(object, "/kind");
            if matches!(kind, "Ingress" | "PersistentVolumeClaim" | "ConfigMap")
                || text(object, "/metadata/name") == "default"
            {
                continue;
            }
            let mut pointers = Vec::new();
            leaves(&without_what_varies(object.clone()), "", &mut pointers);
            for pointer in pointers {
                // The time at which a hostname was declared is taken from the recording.
                if pointer.ends_with("updated_at") {
                    continue;
                }
                let mut other = recorded.clone();
                let place = match other.objects.get_mut(index) {
                    Some(object) => object,
                    None => &mut other.custom[index - recorded.objects.len()],
                };
                *place.pointer_mut(&pointer).unwrap() = Value::from("something else");
                let found = compare(&other);
                assert!(!found.is_ok_and(|found| found.is_empty()), "{name}: {kind} {pointer}");
                changed += 1;
            }
        }
        assert!(changed > 150, "{name}: only {changed} values were changed");
    }
}

#[test]
fn what_the_go_provider_made_is_left_alone() {
    for name in CASES {
        let recorded = case(name);
        for object in built(&recorded).unwrap() {
            let wanted = object.to_json().unwrap();
            let title = text(&wanted, "/metadata/name");
            let existing = recorded.find(object.kind(), title).unwrap();
            let merged = merge(existing, &wanted, Occasion::Adopt);
            assert_eq!(merged, Ok(Merged::Unchanged), "{name}: {} {title}", object.kind());
        }
    }
}

/// What differs, as it is printed.
fn shown(case: &Case) -> Vec<String> {
    compare(case).unwrap().iter().map(ToString::to_string).collect()
}

#[test]
fn what_flags_do_not_ask_for_any_more_stays() {
    let mut recorded = case("01-basic");
    recorded.settings.network_policies = None;
    recorded.settings.generated_hosts = None;
    assert_eq!(shown(&recorded), Vec::<String>::new());
    // A hostname that nobody gave does not.
    let host = recorded.custom.iter_mut().find(|it| text(it, "/kind") == "ProviderHost").unwrap();
    host["metadata"]["name"] = Value::from("other.example.com");
    assert_eq!(shown(&recorded).len(), 1);
}

#[test]
fn a_hostname_of_another_lease_is_withheld() {
    let mut without = case("flags-B/03-hostnames-b");
    let is_host = |object: &&Value| text(object, "/kind") == "ProviderHost";
    let name = text(without.custom.iter().find(is_host).unwrap(), "/metadata/name").to_owned();
    without.custom.retain(|object| text(object, "/metadata/name") != name);
    assert_eq!(shown(&without).len(), 1);
    without.withheld = vec![name];
    assert_eq!(shown(&without), Vec::<String>::new());
}

#[test]
fn an_update_turns_the_recorded_objects_into_those_recorded_after_it() {
    let before = case("02-two-services/update/before");
    let after = case("02-two-services/update/after");
    let mut written = Vec::new();
    for object in built(&after).unwrap() {
        let wanted = object.to_json().unwrap();
        let name = text(&wanted, "/metadata/name");
        let existing = before.find(object.kind(), name).unwrap();
        let Merged::Replace(merged) = merge(existing, &wanted, Occasion::Update).unwrap() else {
            continue;
        };
        let recorded = after.find(object.kind(), name).unwrap().clone();
        let merged = as_stored(without_what_varies(merged));
        assert_eq!(merged, without_what_varies(recorded), "{} {name}", object.kind());
        written.push(object.kind());
    }
    // Every object carries the new revision.
    written.sort_unstable();
    let kinds = [
        "Deployment",
        "Deployment",
        "Manifest",
        "Namespace",
        "NetworkPolicy",
        "ProviderHost",
        "Service",
        "Service",
    ];
    assert_eq!(written, kinds);
}
