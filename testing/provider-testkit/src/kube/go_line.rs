//! Objects as Go providers write them, by what each line does with the revision label.
//!
//! This plays a Go provider in tests of takeover and rollback. Objects are built as ours under the
//! pod profile `go`, which recordings show to be equal; what is there is changed field by field as
//! the Go provider changes it.

use k8s_openapi::jiff::Timestamp;
use provider_crd::{Manifest, labels};
use provider_kube::build::{self, Object};
use provider_kube::resolve::Lease;
use provider_kube::settings::Settings;
use serde_json::{Map, Value};

use super::recorded::text_at;

/// Go providers that treat the revision label alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoLine {
    /// Before #419: pod templates carry the version of the `Manifest`.
    Before419,
    /// From #419 to #433: each start also writes the `Manifest` again, after its workloads.
    From419,
    /// Since #434: new templates carry no label, others keep theirs; labels and annotations of an
    /// existing `Manifest` stay.
    Since434,
}

/// Fields of a pod that an update by the Go provider replaces.
const POD: [&str; 7] = [
    "affinity",
    "automountServiceAccountToken",
    "containers",
    "imagePullSecrets",
    "runtimeClassName",
    "serviceAccountName",
    "volumes",
];

impl GoLine {
    /// The `Manifest` that a tenant's manifest becomes, over the one that is there.
    pub fn manifest(self, mut wanted: Value, there: Option<&Value>) -> Value {
        // The hash is ours.
        fields(&mut wanted, "/metadata").remove("annotations");
        let Some(there) = there else {
            if self == Self::Since434 {
                fields(&mut wanted, "/metadata/labels").remove(labels::REVISION);
            }
            return wanted;
        };
        let mut written = there.clone();
        copy(&wanted, &mut written, "", "spec");
        if self != Self::Since434 {
            copy(&wanted, &mut written, "/metadata", "labels");
        }
        written
    }

    /// What a start writes of a lease: everything that the stored `Manifest` asks for, over what is
    /// `there`, and the `Manifest` where this line writes it again.
    pub fn start(
        self,
        manifest: &Value,
        settings: &Settings,
        there: &[Value],
    ) -> Result<Vec<Value>, Box<dyn std::error::Error>> {
        let mut written = self.objects(manifest, settings, there)?;
        if self == Self::From419 {
            let mut again = manifest.clone();
            let version = text_at(manifest, "/metadata/resourceVersion").into();
            fields(&mut again, "/metadata/labels").insert(labels::REVISION.to_owned(), version);
            written.push(again);
        }
        Ok(written)
    }

    /// What a deployment writes beside the `Manifest`.
    pub fn objects(
        self,
        manifest: &Value,
        settings: &Settings,
        there: &[Value],
    ) -> Result<Vec<Value>, Box<dyn std::error::Error>> {
        let manifest: Manifest = serde_json::from_value(manifest.clone())?;
        let lease = Lease::of(&manifest)?;
        let mut objects = build::workload(&lease, settings)?;
        let hosts = build::hosts(&lease, settings, &[], Timestamp::now());
        objects.extend(hosts.into_iter().map(Object::from));
        let mut written = Vec::new();
        for object in objects {
            let wanted = object.to_json()?;
            let is_same = |there: &&Value| {
                ["/kind", "/metadata/name"]
                    .iter()
                    .all(|part| text_at(there, part) == text_at(&wanted, part))
            };
            written.push(self.over(there.iter().find(is_same), wanted));
        }
        Ok(written)
    }

    /// An object over the one that is there.
    pub fn over(self, there: Option<&Value>, mut wanted: Value) -> Value {
        const TEMPLATE_LABELS: &str = "/spec/template/metadata/labels";
        let is_workload = ["Deployment", "StatefulSet"].contains(&text_at(&wanted, "/kind"));
        if is_workload && self == Self::Since434 {
            let there = there.and_then(|there| there.pointer(TEMPLATE_LABELS));
            let kept = there.and_then(|labels| labels.get(labels::REVISION)).cloned();
            let labels = fields(&mut wanted, TEMPLATE_LABELS);
            labels.remove(labels::REVISION);
            labels.extend(kept.map(|kept| (labels::REVISION.to_owned(), kept)));
        }
        let Some(there) = there else { return wanted };
        let mut written = there.clone();
        relabel(&wanted, &mut written);
        match text_at(&wanted, "/kind") {
            "Namespace" => {}
            "Deployment" | "StatefulSet" => {
                for key in ["replicas", "selector", "volumeClaimTemplates"] {
                    copy(&wanted, &mut written, "/spec", key);
                }
                copy(&wanted, &mut written, "/spec/template/metadata", "labels");
                copy(&wanted, &mut written, "/spec/template/metadata", "annotations");
                for key in POD {
                    copy(&wanted, &mut written, "/spec/template/spec", key);
                }
            }
            "Service" => {
                keep_node_ports(there, &mut wanted);
                copy(&wanted, &mut written, "/spec", "selector");
                copy(&wanted, &mut written, "/spec", "ports");
            }
            _ => {
                copy(&wanted, &mut written, "/metadata", "annotations");
                for key in ["spec", "rules", "subjects", "data"] {
                    copy(&wanted, &mut written, "", key);
                }
            }
        }
        written
    }
}

/// Sets a field to what is wanted; one that is not wanted goes.
fn copy(wanted: &Value, written: &mut Value, parent: &str, key: &str) {
    let value = wanted.pointer(parent).and_then(|parent| parent.get(key)).cloned();
    let parent = fields(written, parent);
    match value {
        Some(value) => parent.insert(key.to_owned(), value),
        None => parent.remove(key),
    };
}

/// Labels of the provider are replaced, others stay.
fn relabel(wanted: &Value, written: &mut Value) {
    let wanted = wanted.pointer("/metadata/labels").and_then(Value::as_object).cloned();
    let labels = fields(written, "/metadata/labels");
    labels.retain(|key, _| !key.starts_with(labels::MANAGED));
    labels.extend(wanted.unwrap_or_default());
}

/// A port that stays keeps its port on the nodes.
fn keep_node_ports(there: &Value, wanted: &mut Value) {
    let known = there.pointer("/spec/ports").and_then(Value::as_array);
    let ports = wanted.pointer_mut("/spec/ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten() {
        let same = known.into_iter().flatten().find(|known| known["name"] == port["name"]);
        if let Some(number) = same.and_then(|known| known.get("nodePort")) {
            port["nodePort"] = number.clone();
        }
    }
}

/// The fields of an object within, which is made if it is not there.
#[expect(clippy::expect_used, reason = "objects of Kubernetes have objects there")]
fn fields<'a>(value: &'a mut Value, pointer: &str) -> &'a mut Map<String, Value> {
    let mut within = value;
    for key in pointer.split('/').filter(|key| !key.is_empty()) {
        let fields = within.as_object_mut().expect("an object");
        within = fields.entry(key).or_insert_with(|| Value::Object(Map::new()));
    }
    within.as_object_mut().expect("an object")
}
