//! The hash of the manifest that a tenant sent, beside what is kept of it.
//!
//! A `Manifest` holds less than what is hashed, and live ones have no place for the hash; so it is
//! an annotation. Go providers before #434 restart every pod of a `Manifest` that was written, also
//! after a rollback to one of them. So where only the hash
//! differs, and pods may run, it is written on the lease's namespace instead, with the revision of
//! the `Manifest` that it belongs to.

use akash_sdl::Version;
use k8s_openapi::api::core::v1::Namespace;
use provider_crd::Manifest;
use provider_crd::labels::{MANIFEST_IGNORED, MANIFEST_VERSION};
use provider_engine::cluster::view::IgnoredOptions;
use serde_json::{Map, Value};

/// What the annotation of a `Manifest` says.
#[must_use]
pub fn on_manifest(version: &Version) -> String {
    version.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the annotation of a namespace says.
#[must_use]
pub fn on_namespace(version: &Version, revision: &str) -> String {
    format!("{revision}/{}", on_manifest(version))
}

/// The hash of what a `Manifest` keeps; `None` if nobody wrote it down.
#[must_use]
pub fn of(manifest: &Manifest, namespace: Option<&Namespace>) -> Option<Version> {
    let first = || read(manifest.metadata.annotations.as_ref()?.get(MANIFEST_VERSION)?);
    later(manifest, namespace).or_else(first)
}

/// The hash on the namespace, if it is of this revision of the `Manifest`.
fn later(manifest: &Manifest, namespace: Option<&Namespace>) -> Option<Version> {
    let revision = manifest.metadata.resource_version.as_deref().unwrap_or_default();
    let said = namespace?.metadata.annotations.as_ref()?.get(MANIFEST_VERSION)?;
    let (of, version) = said.split_once('/')?;
    if of == revision { read(version) } else { None }
}

/// What the manifest asks for that is not carried out, as it stands beside the hash.
#[must_use]
pub fn ignored(manifest: &Manifest, namespace: Option<&Namespace>) -> IgnoredOptions {
    let on_namespace = namespace.filter(|_| later(manifest, namespace).is_some());
    let metadata = on_namespace.map_or(&manifest.metadata, |namespace| &namespace.metadata);
    let said = metadata.annotations.as_ref().and_then(|all| all.get(MANIFEST_IGNORED));
    said.and_then(|said| serde_json::from_str(said).ok()).unwrap_or_default()
}

/// Puts the hash on an object, and what is not carried out.
pub fn annotate(object: &mut Value, hash: String, ignored: &IgnoredOptions) {
    let metadata = object.pointer_mut("/metadata").and_then(Value::as_object_mut);
    if let Some(metadata) = metadata {
        let annotations = metadata.entry("annotations").or_insert_with(|| Map::new().into());
        if !annotations.is_object() {
            *annotations = Map::new().into();
        }
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.insert(MANIFEST_VERSION.to_owned(), hash.into());
            annotations.remove(MANIFEST_IGNORED);
            if !ignored.is_empty() {
                let ignored = serde_json::json!(ignored).to_string();
                annotations.insert(MANIFEST_IGNORED.to_owned(), ignored.into());
            }
        }
    }
}

fn read(text: &str) -> Option<Version> {
    let digits = text.as_bytes();
    let mut bytes = [0_u8; 32];
    if digits.len() != bytes.len() * 2 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(Version::from(bytes))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest(revision: &str, annotation: Option<String>) -> Manifest {
        let mut manifest = Manifest::default();
        manifest.metadata.resource_version = Some(revision.to_owned());
        manifest.metadata.annotations =
            annotation.map(|text| [(MANIFEST_VERSION.to_owned(), text)].into());
        manifest
    }

    #[test]
    fn a_later_hash_counts_for_the_revision_it_was_written_for() {
        let (first, later) = (Version::from([1; 32]), Version::from([0xab; 32]));
        let kept = manifest("7", Some(on_manifest(&first)));
        assert_eq!(of(&kept, None), Some(first));
        for (revision, found) in [("7", later), ("6", first)] {
            let mut namespace = json!({"metadata": {"name": "a", "annotations": null}});
            let ignored = IgnoredOptions::from([("web".to_owned(), vec!["a".to_owned()])]);
            annotate(&mut namespace, on_namespace(&later, revision), &ignored);
            let namespace: Namespace = serde_json::from_value(namespace).unwrap();
            assert_eq!(of(&kept, Some(&namespace)), Some(found), "{revision}");
            let said = super::ignored(&kept, Some(&namespace));
            assert_eq!(said == ignored, revision == "7", "{said:?}");
        }
        assert_eq!(of(&manifest("7", None), None), None);
    }

    #[test]
    fn what_is_no_hash_is_none() {
        for text in ["", "zz", &"g".repeat(64), &"é".repeat(32), &"a".repeat(63)] {
            assert_eq!(of(&manifest("7", Some(text.to_owned())), None), None, "{text}");
        }
    }
}
