//! Two values become one.

use provider_crd::labels::is_ours;
use serde_json::{Map, Value};

use super::owned::Owned;

/// What `existing` becomes when `wanted` is wanted; `None` if it goes away.
pub(super) fn merged(
    existing: Option<&Value>,
    wanted: Option<&Value>,
    owned: &Owned,
) -> Option<Value> {
    match owned {
        // The API server shows some fields that are not set as null.
        Owned::Whole => wanted.or(existing.filter(|there| there.is_null())).cloned(),
        Owned::Keys(keys) => by_key(existing, wanted, |map, wanted| {
            for (key, part) in *keys {
                match merged(map.get(*key), wanted.and_then(|wanted| wanted.get(*key)), part) {
                    Some(value) => map.insert((*key).to_owned(), value),
                    None => map.remove(*key),
                };
            }
        }),
        Owned::OurLabels => by_key(existing, wanted, |map, wanted| {
            map.retain(|key, _| !is_ours(key));
            let wanted = wanted.into_iter().flatten();
            map.extend(wanted.map(|(key, value)| (key.clone(), value.clone())));
        }),
        Owned::Items(identity, part) => {
            let wanted = wanted.and_then(Value::as_array)?;
            let mut left: Vec<&Value> =
                existing.and_then(Value::as_array).into_iter().flatten().collect();
            let items = wanted.iter().map(|item| {
                let same = left.iter().position(|other| is_same(other, item, identity));
                match same.map(|at| left.remove(at)) {
                    Some(other) => merged(Some(other), Some(item), part).unwrap_or_default(),
                    None => item.clone(),
                }
            });
            Some(items.collect())
        }
    }
}

/// Adds what the API server stores under two names: set under one only, the other would win.
pub(super) fn with_aliases(mut wanted: Value) -> Value {
    let pod = wanted.pointer_mut("/spec/template/spec").and_then(Value::as_object_mut);
    if let Some(pod) = pod
        && let Some(account) = pod.get("serviceAccountName").cloned()
    {
        pod.insert("serviceAccount".to_owned(), account);
    }
    wanted
}

/// A map in which `change` was made. One that is not wanted goes away when nothing is left in it.
fn by_key(
    existing: Option<&Value>,
    wanted: Option<&Value>,
    change: impl FnOnce(&mut Map<String, Value>, Option<&Map<String, Value>>),
) -> Option<Value> {
    let mut map = existing.and_then(Value::as_object).cloned().unwrap_or_default();
    change(&mut map, wanted.and_then(Value::as_object));
    (wanted.is_some() || !map.is_empty()).then_some(Value::Object(map))
}

fn is_same(existing: &Value, wanted: &Value, identity: &[&str]) -> bool {
    identity.iter().all(|pointer| existing.pointer(pointer) == wanted.pointer(pointer))
}
