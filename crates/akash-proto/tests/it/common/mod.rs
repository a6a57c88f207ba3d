//! Reading recordings and looking at messages through their descriptors.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, ReflectMessage, Value};
use serde_json::Value as Json;

pub(crate) fn fixture(path: &str) -> String {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let path = root.join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn json(path: &str) -> Json {
    serde_json::from_str(&fixture(path)).unwrap()
}

pub(crate) fn json_lines(path: &str) -> Vec<Json> {
    fixture(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn from_base64(text: &Json) -> Vec<u8> {
    STANDARD.decode(text.as_str().unwrap()).unwrap()
}

pub(crate) fn from_hex(text: &Json) -> Vec<u8> {
    hex::decode(text.as_str().unwrap()).unwrap()
}

pub(crate) fn pool() -> DescriptorPool {
    DescriptorPool::decode(akash_proto::FILE_DESCRIPTOR_SET).unwrap()
}

pub(crate) fn message(name: &str) -> MessageDescriptor {
    pool().get_message_by_name(name).unwrap_or_else(|| panic!("no message {name}"))
}

/// Decodes and encodes again. The generated types drop what they do not know, so equal bytes mean
/// that every field was known, typed right and kept.
pub(crate) fn assert_round_trip<M: Message + Default>(bytes: &[u8], what: &str) -> M {
    let decoded = M::decode(bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(hex::encode(decoded.encode_to_vec()), hex::encode(bytes), "{what}");
    decoded
}

/// Panics when `bytes`, read as `descriptor`, have a field that the .proto files lack, at any
/// depth and also within `Any`.
pub(crate) fn assert_no_unknown_fields(descriptor: &MessageDescriptor, bytes: &[u8], what: &str) {
    let message = DynamicMessage::decode(descriptor.clone(), bytes)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    visit(&message, what);
}

fn visit(message: &DynamicMessage, what: &str) {
    let descriptor = message.descriptor();
    let what = &format!("{what} > {}", descriptor.name());
    let unknown: Vec<u32> = message.unknown_fields().map(|field| field.number()).collect();
    assert!(unknown.is_empty(), "{what}: unknown fields {unknown:?}");
    if descriptor.full_name() == "google.protobuf.Any" {
        return visit_any(message, what);
    }
    for (_, value) in message.fields() {
        visit_value(value, what);
    }
}

fn visit_value(value: &Value, what: &str) {
    match value {
        Value::Message(message) => visit(message, what),
        Value::List(items) => items.iter().for_each(|item| visit_value(item, what)),
        Value::Map(entries) => entries.values().for_each(|entry| visit_value(entry, what)),
        _ => {}
    }
}

fn visit_any(any: &DynamicMessage, what: &str) {
    let any: prost_types::Any = any.transcode_to().unwrap();
    let inner = message(any.type_url.strip_prefix('/').unwrap());
    assert_no_unknown_fields(&inner, &any.value, what);
}

/// How field names are written in a JSON recording.
#[derive(Clone, Copy)]
pub(crate) enum Names {
    /// As in the .proto file.
    Proto,
    /// lowerCamelCase.
    Json,
}

/// Fields that the chain gained after the recordings were made.
const NEWER: [&str; 1] = ["akash.base.attributes.v1.PlacementRequirements.verification"];

/// Panics unless the keys of `json`, recorded with defaults emitted, are the fields of
/// `descriptor`, at any depth.
pub(crate) fn assert_same_fields(
    descriptor: &MessageDescriptor,
    json: &Json,
    names: Names,
    what: &str,
) {
    let what = &format!("{what} > {}", descriptor.name());
    let Json::Object(object) = json else {
        // Null, or a type with a JSON form of its own (Timestamp, Duration).
        return;
    };
    if let Some(type_url) = object.get("@type") {
        let inner = message(type_url.as_str().unwrap().strip_prefix('/').unwrap());
        let mut rest = object.clone();
        rest.remove("@type");
        return assert_same_fields(&inner, &Json::Object(rest), names, what);
    }
    for key in object.keys() {
        let known = match names {
            Names::Proto => descriptor.get_field_by_name(key),
            Names::Json => descriptor.get_field_by_json_name(key),
        };
        let Some(field) = known else { panic!("{what}: no field {key}") };
        let Some(inner) = field.kind().as_message().cloned() else {
            continue;
        };
        match &object[key] {
            Json::Array(items) => {
                items.iter().for_each(|item| assert_same_fields(&inner, item, names, what));
            }
            Json::Object(entries) if field.is_map() => {
                let value = inner.map_entry_value_field().kind().as_message().cloned();
                for entry in entries.values() {
                    assert_same_fields(value.as_ref().unwrap(), entry, names, what);
                }
            }
            value => assert_same_fields(&inner, value, names, what),
        }
    }
    for field in descriptor.fields() {
        let key = match names {
            Names::Proto => field.name(),
            Names::Json => field.json_name(),
        };
        // Of a oneof only the case in use is written; nodes of the recordings do not know the rest.
        let required = field.containing_oneof().is_none() && !NEWER.contains(&field.full_name());
        assert!(!required || object.contains_key(key), "{what}: {key} is not in the recording");
    }
}
