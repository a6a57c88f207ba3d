//! Whether everything of a lease was written.

use std::collections::BTreeMap;

use provider_crd::labels;

use crate::build::Object;

/// Whether all these objects of a lease are there, made from the same revision of its `Manifest`.
/// `labels_of` gives the labels of the object of a kind and name that is there.
///
/// Only then the lease counts as deployed: a provider that ended half way goes on where it was.
pub fn is_written<'a>(
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
