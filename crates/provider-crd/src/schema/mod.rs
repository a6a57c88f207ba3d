//! The definitions of our kinds, for `kubectl apply`.
//!
//! An API server drops every key that the schema does not name, so the schema is what live
//! clusters have, key for key. `v2beta1` is neither served nor stored any more; it stays named
//! because a cluster that once stored objects in it refuses a definition without it.

use serde_json::{Map, Value, json};

use crate::manifest::ManifestSpec;
use crate::names::{GROUP, Spec, VERSION};
use crate::provider_host::{ProviderHostSpec, ProviderLeasedIpSpec};

const OLD_VERSION: &str = "v2beta1";

/// The definitions of all kinds, to be installed once in every cluster.
pub fn custom_resource_definitions() -> Vec<Value> {
    vec![
        definition::<ManifestSpec>(&spec(), &old_spec()),
        definition::<ProviderHostSpec>(&host_spec(), &host_spec()),
        definition::<ProviderLeasedIpSpec>(&leased_ip_spec(), &leased_ip_spec()),
    ]
}

fn definition<S: Spec>(spec: &Value, old_spec: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{}.{GROUP}", S::PLURAL),
            // Without it, taking a chart away takes every lease's manifest away.
            "annotations": {"helm.sh/resource-policy": "keep"},
        },
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "plural": S::PLURAL,
                "singular": S::SINGULAR,
                "kind": S::KIND,
                "shortNames": [S::SHORT_NAME],
            },
            "versions": [version(VERSION, true, spec), version(OLD_VERSION, false, old_spec)],
        },
    })
}

fn version(name: &str, current: bool, spec: &Value) -> Value {
    json!({
        "name": name,
        "served": current,
        "storage": current,
        "schema": {"openAPIV3Schema": object([("spec", spec.clone())])},
    })
}

fn host_spec() -> Value {
    object([
        ("owner", string()),
        ("provider", string()),
        ("hostname", string()),
        ("dseq", integer()),
        ("gseq", integer()),
        ("oseq", integer()),
        ("service_name", string()),
        ("external_port", integer()),
    ])
}

fn leased_ip_spec() -> Value {
    object([
        ("lease_id", lease_id()),
        ("service_name", string()),
        ("port", integer()),
        ("external_port", integer()),
        ("sharing_key", string()),
        ("protocol", string()),
    ])
}

fn lease_id() -> Value {
    object([
        ("owner", string()),
        ("dseq", formatted("string", "uint64")),
        ("gseq", integer()),
        ("oseq", integer()),
        ("provider", string()),
    ])
}

fn object<const N: usize>(properties: [(&str, Value); N]) -> Value {
    let properties: Map<_, _> =
        properties.into_iter().map(|(key, schema)| (key.to_owned(), schema)).collect();
    json!({"type": "object", "properties": properties})
}

fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

fn nullable(mut schema: Value) -> Value {
    if let Some(map) = schema.as_object_mut() {
        map.insert("nullable".to_owned(), true.into());
    }
    schema
}

fn string() -> Value {
    json!({"type": "string"})
}

fn integer() -> Value {
    json!({"type": "integer"})
}

fn boolean() -> Value {
    json!({"type": "boolean"})
}

fn formatted(kind: &str, format: &str) -> Value {
    json!({"type": kind, "format": format})
}

/// In the version that is kept.
fn spec() -> Value {
    let service = object([
        ("name", string()),
        ("image", string()),
        ("command", list(string())),
        ("args", list(string())),
        ("env", list(string())),
        ("resources", resources()),
        ("count", formatted("number", "uint64")),
        ("expose", list(expose())),
        ("params", nullable(params())),
        ("scheduler_params", nullable(scheduler_params())),
        ("credentials", nullable(credentials())),
    ]);
    with_services(service)
}

fn old_spec() -> Value {
    let volume = object([("name", string()), ("size", formatted("string", "uint64"))]);
    let unit = object([
        ("cpu", formatted("number", "uint32")),
        ("memory", formatted("string", "uint64")),
        ("storage", list(volume)),
    ]);
    let service = object([
        ("name", string()),
        ("image", string()),
        ("command", list(string())),
        ("args", list(string())),
        ("env", list(string())),
        ("unit", unit),
        ("count", formatted("number", "uint64")),
        ("expose", list(expose())),
        ("params", nullable(object([("storage", list(mount()))]))),
    ]);
    with_services(service)
}

fn with_services(service: Value) -> Value {
    let group = object([("name", string()), ("services", list(service))]);
    object([("lease_id", lease_id()), ("group", group)])
}

fn resources() -> Value {
    let volume = object([
        ("name", string()),
        ("size", formatted("string", "uint64")),
        ("attributes", attributes()),
    ]);
    object([
        ("id", formatted("number", "uint32")),
        ("cpu", counted("units", "number", "uint32")),
        ("gpu", counted("units", "number", "uint32")),
        ("memory", counted("size", "string", "uint64")),
        ("storage", list(volume)),
    ])
}

fn counted(key: &str, kind: &str, format: &str) -> Value {
    object([(key, formatted(kind, format)), ("attributes", attributes())])
}

fn attributes() -> Value {
    nullable(list(object([("key", string()), ("value", string())])))
}

fn expose() -> Value {
    let http_options = object([
        ("max_body_size", integer()),
        ("read_timeout", integer()),
        ("send_timeout", integer()),
        ("next_tries", integer()),
        ("next_timeout", integer()),
        ("next_cases", list(string())),
        ("proxy", proxy()),
    ]);
    object([
        ("port", formatted("integer", "uint16")),
        ("external_port", formatted("integer", "uint16")),
        ("proto", string()),
        ("service", string()),
        ("global", boolean()),
        ("hosts", list(string())),
        ("http_options", http_options),
        ("ip", string()),
        ("endpoint_sequence_number", formatted("number", "uint32")),
    ])
}

fn proxy() -> Value {
    object([
        ("buffering_disable", boolean()),
        ("buffer_size", integer()),
        ("buffers_number", integer()),
        ("buffers_size", integer()),
        ("busy_buffers_size", integer()),
        ("connect_timeout", integer()),
    ])
}

fn params() -> Value {
    object([("storage", list(mount())), ("permissions", object([("read", list(string()))]))])
}

fn mount() -> Value {
    object([("name", string()), ("mount", string()), ("readOnly", boolean())])
}

fn scheduler_params() -> Value {
    let gpu = object([
        ("vendor", string()),
        ("model", string()),
        ("memory_size", formatted("string", "uint64")),
        ("interface", string()),
    ]);
    let resources = object([("gpu", nullable(gpu))]);
    object([("runtime_class", string()), ("resources", nullable(resources))])
}

fn credentials() -> Value {
    object([
        ("host", string()),
        ("email", string()),
        ("username", string()),
        ("password", string()),
    ])
}
