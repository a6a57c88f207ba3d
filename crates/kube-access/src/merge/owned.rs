//! Which parts of an object are ours, kind by kind.

use Owned::{Items, Keys, OurLabels, Whole};
use provider_crd::labels::{HTTP_OPTIONS, UPDATED_AT, is_ours};
use serde_json::{Map, Value};

use super::Occasion;

/// What part of a value is ours.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owned {
    Whole,
    /// These keys of a map; other keys stay.
    Keys(&'static [(&'static str, Owned)]),
    /// Which items a list has, and this part of each. Items are the same if the values at these
    /// pointers are.
    Items(&'static [&'static str], &'static Owned),
    /// Labels that begin like ours; others stay.
    OurLabels,
}

/// The parts of an object of this kind; `None` if the provider writes no such objects.
pub(super) fn parts_of(kind: &str, occasion: Occasion) -> Option<Owned> {
    Some(match kind {
        "Namespace" | "ServiceAccount" => Keys(&[("metadata", LABELLED)]),
        "NetworkPolicy" => Keys(&[("metadata", LABELLED), ("spec", POLICY)]),
        "Role" => Keys(&[("metadata", LABELLED), ("rules", Whole)]),
        "RoleBinding" => Keys(&[("metadata", LABELLED), ("roleRef", Whole), ("subjects", Whole)]),
        "Secret" => Keys(&[("metadata", LABELLED), ("type", Whole), ("data", Whole)]),
        "Deployment" => Keys(&[("metadata", LABELLED), ("spec", DEPLOYMENT)]),
        "StatefulSet" => Keys(&[("metadata", LABELLED), ("spec", STATEFUL_SET)]),
        "Service" => Keys(&[("metadata", LABELLED), ("spec", SERVICE)]),
        // Its labels and annotations stay as they were written: each write is another version of it.
        "Manifest" => Keys(&[("spec", MANIFEST)]),
        "ProviderLeasedIP" => Keys(&[("metadata", RELABELLED), ("spec", LEASED_IP)]),
        "ProviderHost" => match occasion {
            Occasion::Adopt => Keys(&[("metadata", LABELLED), ("spec", HOST)]),
            Occasion::Update => Keys(&[("metadata", DECLARED), ("spec", HOST)]),
        },
        "Ingress" => Keys(&[("metadata", INGRESS_METADATA), ("spec", INGRESS)]),
        "HTTPRoute" => Keys(&[("metadata", ROUTE_METADATA), ("spec", ROUTE)]),
        "SnippetsFilter" => Keys(&[("metadata", FILTER_METADATA), ("spec", Whole)]),
        _ => return None,
    })
}

const LABELLED: Owned = Keys(&[("labels", OurLabels)]);
const RELABELLED: Owned = Keys(&[("labels", Whole)]);
const DECLARED: Owned =
    Keys(&[("labels", OurLabels), ("annotations", Keys(&[(UPDATED_AT, Whole)]))]);

const POLICY: Owned =
    Keys(&[("podSelector", Whole), ("policyTypes", Whole), ("ingress", Whole), ("egress", Whole)]);

/// A port that stays the same keeps the number it has on the nodes.
const SERVICE: Owned = Keys(&[
    ("type", Whole),
    ("selector", Whole),
    ("ports", Items(&["/name", "/port", "/targetPort", "/protocol"], &SERVICE_PORT)),
]);
const SERVICE_PORT: Owned =
    Keys(&[("name", Whole), ("port", Whole), ("targetPort", Whole), ("protocol", Whole)]);

const DEPLOYMENT: Owned = Keys(&[
    ("replicas", Whole),
    ("revisionHistoryLimit", Whole),
    ("selector", Whole),
    ("strategy", Keys(&[("type", Whole), ("rollingUpdate", Whole)])),
    ("template", TEMPLATE),
]);

/// How it is updated and how much history it keeps is not ours once it is there: API servers store
/// only a part of it, and the Go provider leaves it alone.
const STATEFUL_SET: Owned = Keys(&[
    ("replicas", Whole),
    ("selector", Whole),
    ("template", TEMPLATE),
    ("volumeClaimTemplates", Items(&["/metadata/name"], &CLAIM)),
]);
const CLAIM: Owned = Keys(&[
    ("metadata", Keys(&[("name", Whole)])),
    (
        "spec",
        Keys(&[
            ("accessModes", Whole),
            ("resources", Whole),
            ("storageClassName", Whole),
            ("volumeMode", Whole),
        ]),
    ),
]);

const TEMPLATE: Owned = Keys(&[("metadata", LABELLED), ("spec", POD)]);
const POD: Owned = Keys(&[
    ("affinity", Whole),
    ("automountServiceAccountToken", Whole),
    ("serviceAccount", Whole),
    ("serviceAccountName", Whole),
    ("securityContext", Keys(&[("runAsNonRoot", Whole)])),
    ("runtimeClassName", Whole),
    ("imagePullSecrets", Whole),
    ("containers", Items(&["/name"], &CONTAINER)),
    ("volumes", Items(&["/name"], &VOLUME)),
]);
const VOLUME: Owned =
    Keys(&[("name", Whole), ("emptyDir", Keys(&[("medium", Whole), ("sizeLimit", Whole)]))]);
const CONTAINER: Owned = Keys(&[
    ("name", Whole),
    ("image", Whole),
    ("imagePullPolicy", Whole),
    ("command", Whole),
    ("args", Whole),
    ("env", Items(&["/name"], &Keys(&[("name", Whole), ("value", Whole)]))),
    ("ports", Items(&["/containerPort"], &Keys(&[("containerPort", Whole)]))),
    ("resources", Keys(&[("requests", Whole), ("limits", Whole)])),
    (
        "securityContext",
        Keys(&[
            ("runAsNonRoot", Whole),
            ("privileged", Whole),
            ("allowPrivilegeEscalation", Whole),
        ]),
    ),
    ("volumeMounts", Items(&["/mountPath"], &MOUNT)),
]);
const MOUNT: Owned = Keys(&[("name", Whole), ("mountPath", Whole), ("readOnly", Whole)]);

const HOST: Owned = Keys(&[
    ("owner", Whole),
    ("provider", Whole),
    ("hostname", Whole),
    ("dseq", Whole),
    ("gseq", Whole),
    ("oseq", Whole),
    ("service_name", Whole),
    ("external_port", Whole),
]);
/// Certificates, and the annotations of whoever gets them, are not ours.
const INGRESS_METADATA: Owned = Keys(&[
    ("labels", OurLabels),
    (
        "annotations",
        Keys(&[
            (HTTP_OPTIONS, Whole),
            ("nginx.ingress.kubernetes.io/proxy-body-size", Whole),
            ("nginx.ingress.kubernetes.io/proxy-buffer-size", Whole),
            ("nginx.ingress.kubernetes.io/proxy-buffering", Whole),
            ("nginx.ingress.kubernetes.io/proxy-buffers-number", Whole),
            ("nginx.ingress.kubernetes.io/proxy-busy-buffers-size", Whole),
            ("nginx.ingress.kubernetes.io/proxy-connect-timeout", Whole),
            ("nginx.ingress.kubernetes.io/proxy-next-upstream", Whole),
            ("nginx.ingress.kubernetes.io/proxy-next-upstream-timeout", Whole),
            ("nginx.ingress.kubernetes.io/proxy-next-upstream-tries", Whole),
            ("nginx.ingress.kubernetes.io/proxy-read-timeout", Whole),
            ("nginx.ingress.kubernetes.io/proxy-send-timeout", Whole),
        ]),
    ),
]);
const INGRESS: Owned = Keys(&[("ingressClassName", Whole), ("rules", Whole)]);

const ROUTE_METADATA: Owned = Keys(&[
    ("labels", OurLabels),
    (
        "annotations",
        Keys(&[
            (HTTP_OPTIONS, Whole),
            ("nginx.org/client-max-body-size", Whole),
            ("nginx.org/proxy-buffer-size", Whole),
            ("nginx.org/proxy-next-upstream", Whole),
            ("nginx.org/proxy-next-upstream-timeout", Whole),
            ("nginx.org/proxy-next-upstream-tries", Whole),
            ("nginx.org/proxy-read-timeout", Whole),
            ("nginx.org/proxy-send-timeout", Whole),
        ]),
    ),
]);
/// Key by key: newer versions of the Gateway API fill in more.
const ROUTE: Owned = Keys(&[
    ("hostnames", Whole),
    ("parentRefs", Items(&["/namespace", "/name"], &PARENT)),
    ("rules", Items(&[], &RULE)),
]);
const PARENT: Owned =
    Keys(&[("group", Whole), ("kind", Whole), ("namespace", Whole), ("name", Whole)]);
const RULE: Owned = Keys(&[
    ("matches", Whole),
    ("filters", Whole),
    ("timeouts", Whole),
    ("backendRefs", Items(&["/name", "/port"], &BACKEND)),
]);
/// The route that it is for owns it, so that it goes with the route.
const FILTER_METADATA: Owned = Keys(&[("labels", OurLabels), ("ownerReferences", Whole)]);
const BACKEND: Owned =
    Keys(&[("group", Whole), ("kind", Whole), ("name", Whole), ("port", Whole), ("weight", Whole)]);

const LEASED_IP: Owned = Keys(&[
    ("lease_id", LEASE_ID),
    ("service_name", Whole),
    ("port", Whole),
    ("external_port", Whole),
    ("sharing_key", Whole),
    ("protocol", Whole),
]);

/// Key by key, so that what a newer provider wrote into a `Manifest` is not taken for a change:
/// Go providers before #434 restart every pod of a `Manifest` that was written.
const MANIFEST: Owned = Keys(&[
    ("lease_id", LEASE_ID),
    ("group", Keys(&[("name", Whole), ("services", Items(&["/name"], &MANIFEST_SERVICE))])),
]);
const LEASE_ID: Owned = Keys(&[
    ("owner", Whole),
    ("dseq", Whole),
    ("gseq", Whole),
    ("oseq", Whole),
    ("provider", Whole),
]);
const MANIFEST_SERVICE: Owned = Keys(&[
    ("name", Whole),
    ("image", Whole),
    ("command", Whole),
    ("args", Whole),
    ("env", Whole),
    ("resources", RESOURCES),
    ("count", Whole),
    ("expose", Whole),
    ("params", Keys(&[("storage", Whole), ("permissions", Whole)])),
    ("scheduler_params", Keys(&[("runtime_class", Whole), ("resources", Keys(&[("gpu", Whole)]))])),
    ("credentials", Whole),
]);
const RESOURCES: Owned = Keys(&[
    ("id", Whole),
    ("cpu", Keys(&[("units", Whole), ("attributes", Whole)])),
    ("gpu", Keys(&[("units", Whole), ("attributes", Whole)])),
    ("memory", Keys(&[("size", Whole), ("attributes", Whole)])),
    ("storage", Whole),
]);

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
