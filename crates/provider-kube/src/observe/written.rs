//! Whether everything of a lease was written.
//!
//! Only then the lease counts as deployed: a provider that ended half way goes on where it was.

use std::collections::BTreeMap;

use kube_access::merge::{Merged, Occasion, merge};
use provider_crd::{labels, names};
use serde_json::{Value, json};

use crate::build::Object;

/// Whether all these objects of a lease are there and carry the revision of its `Manifest`, which
/// every provider writes on an object together with the rest. `labels_of` gives the labels of the
/// object of a kind and name that is there.
pub fn carry_revision<'a>(
    objects: &[Object],
    labels_of: impl Fn(&str, &str) -> Option<&'a BTreeMap<String, String>>,
) -> bool {
    objects.iter().all(|object| {
        let metadata = object.metadata();
        let wanted = metadata.labels.as_ref().and_then(|labels| labels.get(labels::REVISION));
        let name = metadata.name.as_deref().unwrap_or_default();
        labels_of(object.kind(), name).is_some_and(|there| there.get(labels::REVISION) == wanted)
    })
}

/// Whether all these objects are there and a merge would write none of them, whatever revision they
/// carry: Go providers from #419 to #433 write the `Manifest` once more at each start, and no
/// workload with it. `find` gives the object of a kind and name that is there.
///
/// What only the provider's settings say is no evidence: of network policies it is left out here, of
/// workloads and hostnames before.
pub fn is_written(objects: &[Object], find: impl Fn(&str, &str) -> Option<Value>) -> bool {
    objects.iter().all(|object| {
        let name = object.metadata().name.as_deref().unwrap_or_default();
        let Some(there) = find(object.kind(), name) else { return false };
        let Ok(mut wanted) = object.to_json() else { return false };
        let revision =
            |object: &Value| object.pointer("/metadata/labels")?.get(labels::REVISION).cloned();
        let kept = revision(&there);
        if object.kind() == "NetworkPolicy" {
            take_policy_settings(&mut wanted, name, &there);
        }
        let labels = wanted.pointer_mut("/metadata/labels").and_then(Value::as_object_mut);
        if let Some(labels) = labels.filter(|labels| labels.contains_key(labels::REVISION)) {
            match kept {
                Some(kept) => labels.insert(labels::REVISION.to_owned(), kept),
                None => labels.remove(labels::REVISION),
            };
        }
        matches!(merge(&there, &wanted, Occasion::Adopt), Ok(Merged::Unchanged))
    })
}

/// Puts the parts of a network policy that come from settings as they are there: all of the one that
/// holds for every pod, and where the API server is.
fn take_policy_settings(wanted: &mut Value, name: &str, there: &Value) {
    let is_for_all = name == names::RESTRICTIONS_POLICY;
    let is_for_api_server = wanted.pointer("/spec/policyTypes") == Some(&json!(["Egress"]));
    for (key, is_setting) in [("ingress", is_for_all), ("egress", is_for_all || is_for_api_server)]
    {
        let spec = wanted.pointer_mut("/spec").and_then(Value::as_object_mut);
        if let Some(spec) = spec.filter(|_| is_setting) {
            match there.pointer("/spec").and_then(|spec| spec.get(key)) {
                Some(found) => spec.insert(key.to_owned(), found.clone()),
                None => spec.remove(key),
            };
        }
    }
}
