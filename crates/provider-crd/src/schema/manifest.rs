//! What a `Manifest` may say.

use serde_json::Value;

use super::{boolean, formatted, integer, lease_id, list, nullable, object, string};

/// In the version that is kept.
pub(super) fn spec() -> Value {
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

pub(super) fn old_spec() -> Value {
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
