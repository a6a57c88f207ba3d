//! An object as the API server shows it, kept small.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::kind::ResourceKind;

/// An object as the API server shows it. Kept as text, which is a fraction of what its parts take
/// in memory; it is read when somebody wants to know. Clones share the text.
#[derive(Clone, PartialEq, derive_more::Debug)]
#[debug("{}/{} at {}", self.namespace, self.name, self.version)]
pub struct CachedObject {
    pub name: String,
    /// Where its name counts; empty if everywhere.
    pub namespace: String,
    pub uid: String,
    pub version: String,
    pub labels: BTreeMap<String, String>,
    /// Whether it was told to go.
    pub is_ending: bool,
    text: Arc<str>,
}

impl CachedObject {
    /// What the API server answered.
    pub fn new(mut object: Value) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Object {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Metadata {
            name: String,
            #[serde(default)]
            namespace: String,
            #[serde(default)]
            uid: String,
            #[serde(default)]
            resource_version: String,
            #[serde(default)]
            labels: Option<BTreeMap<String, String>>,
            #[serde(default)]
            deletion_timestamp: Option<String>,
        }
        trim(&mut object);
        let Object { metadata } = Object::deserialize(&object)?;
        Ok(Self {
            name: metadata.name,
            namespace: metadata.namespace,
            uid: metadata.uid,
            version: metadata.resource_version,
            labels: metadata.labels.unwrap_or_default(),
            is_ending: metadata.deletion_timestamp.is_some(),
            text: object.to_string().into(),
        })
    }

    /// The object, with kind and version even where a list left them out.
    pub fn json(&self, kind: ResourceKind) -> Value {
        let mut object: Value = serde_json::from_str(&self.text).unwrap_or_default();
        if let Some(object) = object.as_object_mut() {
            object.insert("kind".to_owned(), kind.name.into());
            object.insert("apiVersion".to_owned(), kind.api_version.into());
        }
        object
    }

    /// The object as a type; `None` if it is none of that type.
    pub fn typed<T: DeserializeOwned>(&self, kind: ResourceKind) -> Option<T> {
        serde_json::from_value(self.json(kind)).ok()
    }

    /// The number of its state, where the API server counts them.
    pub fn number(&self) -> Option<u64> {
        self.version.parse().ok()
    }
}

impl<'de> Deserialize<'de> for CachedObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// What is kept of a workload's status: how far an update has come.
const ROLLOUT: [&str; 3] = ["observedGeneration", "updateRevision", "updatedReplicas"];

/// Leaves out what nobody here reads: who wrote which field, and most of what controllers count of
/// workloads. Written back without them, the API server keeps them.
fn trim(object: &mut Value) {
    let metadata = object.pointer_mut("/metadata").and_then(Value::as_object_mut);
    metadata.map(|metadata| metadata.remove("managedFields"));
    if object.pointer("/spec/template").is_some()
        && let Some(status) = object.pointer_mut("/status").and_then(Value::as_object_mut)
    {
        status.retain(|key, _| ROLLOUT.contains(&key.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_nobody_reads_is_left_out_and_all_else_is_kept() {
        let shown = CachedObject::new(json!({
            "metadata": {"name": "web", "namespace": "a", "uid": "u", "resourceVersion": "12",
                "labels": {"akash.network": "true"}, "managedFields": [{"manager": "x"}]},
            "spec": {"template": {}, "newField": [1]},
            "status": {"replicas": 1, "observedGeneration": 3, "updateRevision": "web-7c"},
        }))
        .unwrap();
        assert_eq!(
            (shown.name.as_str(), shown.number(), shown.is_ending),
            ("web", Some(12), false)
        );
        assert_eq!(
            shown.json(ResourceKind::DEPLOYMENT),
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "web", "namespace": "a", "uid": "u", "resourceVersion": "12",
                    "labels": {"akash.network": "true"}},
                "spec": {"template": {}, "newField": [1]},
                "status": {"observedGeneration": 3, "updateRevision": "web-7c"},
            })
        );
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for wrong in [json!(null), json!({}), json!({"metadata": {}}), json!({"metadata": 1})] {
            assert!(CachedObject::new(wrong).is_err());
        }
    }
}
