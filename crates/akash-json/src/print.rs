//! From bytes to JSON.

use akash_types::Dec;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use prost::Message;
use prost_reflect::{
    DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, ReflectMessage, Value,
};
use prost_types::{Any, Duration, Timestamp};

use crate::{
    ANY, DECIMALS, DIGITS, DURATION, Document, OMITTED, ProtoJsonError, TIMESTAMP, method, pool,
};

/// The answer of a gRPC method as a document.
pub fn answer(path: &str, bytes: &[u8]) -> Result<Document, ProtoJsonError> {
    decode(method(path)?.output(), bytes)
}

pub fn message<M: prost::Name>(message: &M) -> Result<Document, ProtoJsonError> {
    let name = M::full_name();
    let descriptor = pool()?.get_message_by_name(&name);
    decode(descriptor.ok_or(ProtoJsonError::Message(name))?, &message.encode_to_vec())
}

/// A packed message as a document: its fields after `@type`. One that is not known keeps its
/// bytes.
pub fn any(any: &Any) -> Document {
    let kind = ("@type".to_owned(), Document::text(&any.type_url));
    let name = any.type_url.trim_start_matches('/');
    let known = pool().ok().and_then(|pool| pool.get_message_by_name(name));
    match known.map(|descriptor| decode(descriptor, &any.value)) {
        Some(Ok(Document::Map(entries))) => {
            Document::Map(std::iter::once(kind).chain(entries).collect())
        }
        _ => Document::Map(vec![kind, ("value".to_owned(), base64_text(&any.value))]),
    }
}

pub(super) fn decode(
    descriptor: MessageDescriptor,
    bytes: &[u8],
) -> Result<Document, ProtoJsonError> {
    let name = descriptor.full_name().to_owned();
    let message = DynamicMessage::decode(descriptor, bytes)
        .map_err(|source| ProtoJsonError::Decode { message: name, source })?;
    Ok(of_message(&message))
}

fn of_message(message: &DynamicMessage) -> Document {
    let descriptor = message.descriptor();
    match descriptor.full_name() {
        ANY => return packed(message, any),
        TIMESTAMP => {
            return packed(message, |time: &Timestamp| Document::text(time.to_string()));
        }
        DURATION => return packed(message, |span: &Duration| duration(span)),
        _ => {}
    }
    // In the order of the .proto file, which is that of the Go struct.
    let declared = descriptor.descriptor_proto().field.iter();
    let fields = declared.filter_map(|field| descriptor.get_field_by_name(field.name()));
    Document::Map(
        fields
            .filter_map(|field| Some((field.name().to_owned(), of_field(message, &field)?)))
            .collect(),
    )
}

/// `None` for the members of a choice that was made otherwise, and for what is absent and left out.
fn of_field(message: &DynamicMessage, field: &FieldDescriptor) -> Option<Document> {
    let is_there = message.has_field(field);
    let is_omitted = field.containing_oneof().is_some() || OMITTED.contains(&field.full_name());
    if is_omitted && !is_there {
        return None;
    }
    let is_message = matches!(field.kind(), Kind::Message(_));
    if is_message && !field.is_list() && !field.is_map() && !is_there {
        return Some(Document::Null);
    }
    Some(of_value(&message.get_field(field), field))
}

fn of_value(value: &Value, field: &FieldDescriptor) -> Document {
    match value {
        Value::Bool(value) => Document::Bool(*value),
        Value::I32(number) => Document::Number(number.to_string()),
        Value::U32(number) => Document::Number(number.to_string()),
        Value::I64(number) => Document::text(number.to_string()),
        Value::U64(number) => Document::text(number.to_string()),
        Value::F32(number) => Document::Number(number.to_string()),
        Value::F64(number) => Document::Number(number.to_string()),
        Value::String(text) if DECIMALS.contains(&field.full_name()) => decimal(text),
        Value::String(text) => Document::text(text),
        Value::Bytes(bytes) if DIGITS.contains(&field.full_name()) => {
            Document::text(String::from_utf8_lossy(bytes))
        }
        Value::Bytes(bytes) if bytes.is_empty() => Document::Null,
        Value::Bytes(bytes) => base64_text(bytes),
        Value::EnumNumber(number) => enum_name(field, *number),
        Value::Message(message) => of_message(message),
        Value::List(items) => {
            Document::List(items.iter().map(|item| of_value(item, field)).collect())
        }
        Value::Map(entries) => of_map(entries, field),
    }
}

fn of_map(entries: &std::collections::HashMap<MapKey, Value>, field: &FieldDescriptor) -> Document {
    let Kind::Message(entry) = field.kind() else { return Document::Null };
    let value_field = entry.map_entry_value_field();
    let mut sorted: Vec<(String, Document)> = entries
        .iter()
        .map(|(key, value)| {
            let key = match key {
                MapKey::Bool(key) => key.to_string(),
                MapKey::I32(key) => key.to_string(),
                MapKey::I64(key) => key.to_string(),
                MapKey::U32(key) => key.to_string(),
                MapKey::U64(key) => key.to_string(),
                MapKey::String(key) => key.clone(),
            };
            (key, of_value(value, &value_field))
        })
        .collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    Document::Map(sorted)
}

fn enum_name(field: &FieldDescriptor, number: i32) -> Document {
    let Kind::Enum(kind) = field.kind() else { return Document::Number(number.to_string()) };
    kind.get_value(number)
        .map_or_else(|| Document::Number(number.to_string()), |value| Document::text(value.name()))
}

/// What is no decimal is shown as it came.
fn decimal(wire: &str) -> Document {
    Document::text(Dec::from_wire(wire).map_or_else(|_| wire.to_owned(), |dec| dec.to_string()))
}

/// Seconds, with as many places as needed of 0, 3, 6 or 9.
pub(super) fn duration(span: &Duration) -> Document {
    let sign = if span.seconds < 0 || span.nanos < 0 { "-" } else { "" };
    let nanos = format!("{:09}", span.nanos.unsigned_abs());
    let places = match nanos.trim_end_matches('0').len() {
        0 => String::new(),
        1..=3 => format!(".{}", nanos.get(..3).unwrap_or_default()),
        4..=6 => format!(".{}", nanos.get(..6).unwrap_or_default()),
        _ => format!(".{nanos}"),
    };
    Document::text(format!("{sign}{}{places}s", span.seconds.unsigned_abs()))
}

/// Bytes as they are written in JSON.
pub fn base64_text(bytes: &[u8]) -> Document {
    Document::text(STANDARD.encode(bytes))
}

/// A message of a type that is known here.
fn packed<M: Message + Default>(
    message: &DynamicMessage,
    write: impl FnOnce(&M) -> Document,
) -> Document {
    // Encoding to memory and reading the same type back cannot fail.
    M::decode(message.encode_to_vec().as_slice()).map_or(Document::Null, |message| write(&message))
}
