//! Whether everything of a lease was written.
//!
//! Only then the lease counts as deployed: a provider that ended half way goes on where it was.

use std::collections::BTreeMap;

use provider_crd::labels;
use serde_json::Value;

use crate::build::Object;
use crate::merge::{Merged, Occasion, merge};

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
pub fn is_written(objects: &[Object], find: impl Fn(&str, &str) -> Option<Value>) -> bool {
    objects.iter().all(|object| {
        let name = object.metadata().name.as_deref().unwrap_or_default();
        let Some(there) = find(object.kind(), name) else { return false };
        let Ok(mut wanted) = object.to_json() else { return false };
        let revision =
            |object: &Value| object.pointer("/metadata/labels")?.get(labels::REVISION).cloned();
        let kept = revision(&there);
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
