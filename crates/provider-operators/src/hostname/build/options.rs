//! Options of HTTP in routes of the Gateway API, and what of a route is not ours.

use std::fmt::Write as _;

use provider_crd::labels;
use serde_json::{Map, Value, json};

use super::{annotations, snippets};
use crate::hostname::exposed::{HttpOptions, ProxyOptions};

const RULE: &str = "/spec/rules/0";

/// The route without annotations about nginx.
pub(crate) fn without_annotations(mut route: Value) -> Value {
    if let Some(metadata) = route.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("annotations");
    }
    route
}

/// The route without anything that makes a gateway serve it.
pub(crate) fn detached(mut route: Value) -> Value {
    set(Some(&mut route), "spec", json!({}));
    route
}

/// The route with a reference to its filter of directives.
pub(crate) fn with_filter(mut route: Value, name: &str) -> Value {
    set(route.pointer_mut(RULE), "filters", json!([snippets::reference(name)]));
    route
}

/// The route with timeouts of the Gateway API, where the tenant asks for others than the usual
/// ones: implementations count them for the whole answer, and a usual one would cut long answers.
pub fn with_timeouts(mut route: Value, options: &HttpOptions) -> Value {
    let usual = HttpOptions::default();
    let timeouts = [options.read_timeout, options.send_timeout];
    if timeouts != [usual.read_timeout, usual.send_timeout]
        && let Some(longest) = timeouts.into_iter().max().filter(|longest| *longest > 0)
    {
        set(route.pointer_mut(RULE), "timeouts", json!({"request": duration(longest)}));
        let annotations = route.pointer_mut("/metadata/annotations");
        set(annotations, labels::HTTP_OPTIONS, labels::TRUE.into());
    }
    route
}

fn set(object: Option<&mut Value>, key: &str, value: Value) {
    if let Some(object) = object.and_then(Value::as_object_mut) {
        object.insert(key.to_owned(), value);
    }
}

/// A time as the Gateway API writes it: at most five digits before a unit.
fn duration(milliseconds: u32) -> String {
    let (seconds, rest) = (milliseconds / 1000, milliseconds % 1000);
    let parts =
        [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s"), (rest, "ms")];
    let mut text = String::new();
    for (number, unit) in parts.into_iter().filter(|(number, _)| *number > 0) {
        let _ = write!(text, "{number}{unit}");
    }
    text
}

/// Options that the tenant set and that a route of the Gateway API cannot say, by their names in an
/// SDL.
pub fn not_carried_out(options: &HttpOptions) -> Vec<&'static str> {
    let usual = HttpOptions::default();
    // A manifest of today's tools has no limit here, the usual options of old ones do.
    let is_usual_next = [0, usual.next_timeout].contains(&options.next_timeout);
    [
        ("max_body_size", options.max_body_size != usual.max_body_size),
        ("next_tries", options.next_tries != usual.next_tries),
        ("next_timeout", !is_usual_next),
        ("next_cases", options.next_cases != usual.next_cases),
        ("proxy", options.proxy != ProxyOptions::default()),
    ]
    .into_iter()
    .filter_map(|(name, is_set)| is_set.then_some(name))
    .collect()
}

/// Takes over from the route that is there what others put into it, so that it stays: filters and,
/// where this provider never wrote any, options that most routes do not have. `keeps_annotations`
/// says that annotations about nginx are left as they are.
pub(crate) fn keep_others(wanted: &mut Value, there: &Value, keeps_annotations: bool) {
    let none = Map::new();
    let said = there.pointer("/metadata/annotations").and_then(Value::as_object).unwrap_or(&none);
    let is_ours = said.contains_key(labels::HTTP_OPTIONS);
    if let Some(metadata) = wanted.get_mut("metadata").and_then(Value::as_object_mut) {
        let mut annotations = match metadata.remove("annotations") {
            Some(Value::Object(annotations)) => annotations,
            _ => Map::new(),
        };
        for (key, value) in said {
            let stays = keeps_annotations && key.starts_with("nginx.org/")
                || !is_ours && annotations::is_optional(key) && !annotations.contains_key(key);
            if stays {
                annotations.insert(key.clone(), value.clone());
            }
        }
        // API servers do not store an empty map.
        if !annotations.is_empty() {
            metadata.insert("annotations".to_owned(), annotations.into());
        }
    }
    let (Some(rule), Some(old)) = (wanted.pointer_mut(RULE), there.pointer(RULE)) else { return };
    let others = old.get("filters").and_then(Value::as_array).into_iter().flatten();
    let mut filters: Vec<Value> =
        others.filter(|filter| !snippets::is_reference(filter)).cloned().collect();
    let own = rule.get("filters").and_then(Value::as_array).into_iter().flatten();
    filters.extend(own.cloned());
    if !filters.is_empty() {
        set(Some(&mut *rule), "filters", filters.into());
    }
    if let Some(timeouts) = old.get("timeouts").filter(|_| !is_ours)
        && rule.get("timeouts").is_none()
    {
        set(Some(rule), "timeouts", timeouts.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_at_most_five_digits_before_a_unit() {
        for (milliseconds, text) in [
            (1, "1ms"),
            (60_000, "1m"),
            (90_500, "1m30s500ms"),
            (3_600_000, "1h"),
            (u32::MAX, "1193h2m47s295ms"),
        ] {
            assert_eq!(duration(milliseconds), text);
        }
    }

    #[test]
    fn only_times_that_were_asked_for_are_written() {
        let route = || json!({"metadata": {"annotations": {}}, "spec": {"rules": [{}]}});
        assert_eq!(with_timeouts(route(), &HttpOptions::default()), route());
        let asked = HttpOptions { read_timeout: 3_600_000, ..HttpOptions::default() };
        let written = with_timeouts(route(), &asked);
        assert_eq!(written["spec"]["rules"][0]["timeouts"], json!({"request": "1h"}));
        assert_eq!(not_carried_out(&asked), [""; 0]);
        let more = HttpOptions { next_tries: 9, max_body_size: 7, ..asked };
        assert_eq!(not_carried_out(&more), ["max_body_size", "next_tries"]);
    }

    #[test]
    fn what_others_put_into_a_route_stays() {
        let mirror = json!({"type": "RequestMirror"});
        let ours = snippets::reference("a.example");
        let there = json!({
            "metadata": {"annotations": {
                "nginx.ingress.kubernetes.io/proxy-buffer-size": "8k", "nginx.org/x": "1"}},
            "spec": {"rules": [{"filters": [mirror, ours], "timeouts": {"request": "9s"}}]},
        });
        let plain = || json!({"metadata": {"annotations": {}}, "spec": {"rules": [{}]}});
        let mut wanted = plain();
        keep_others(&mut wanted, &there, false);
        assert_eq!(wanted["spec"]["rules"][0]["filters"], json!([mirror]));
        assert_eq!(wanted["spec"]["rules"][0]["timeouts"], json!({"request": "9s"}));
        let kept = "nginx.ingress.kubernetes.io/proxy-buffer-size";
        assert_eq!(wanted["metadata"]["annotations"], json!({kept: "8k"}));
        // What this provider wrote goes when it is not wanted any more.
        let mut marked = there.clone();
        marked["metadata"]["annotations"][labels::HTTP_OPTIONS] = json!("true");
        let mut wanted = with_filter(plain(), "a.example");
        keep_others(&mut wanted, &marked, true);
        assert_eq!(wanted["spec"]["rules"][0], json!({"filters": [mirror, ours]}));
        assert_eq!(wanted["metadata"]["annotations"], json!({"nginx.org/x": "1"}));
    }
}
