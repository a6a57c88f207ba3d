//! From JSON to a message.
//!
//! As strict as Go: a field that is not known is an error, since a transaction that does less than
//! its file says is worse than none.

use std::collections::HashMap;
use std::fmt::Display;
use std::str::FromStr;

use akash_types::Dec;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use prost::{Message, Name};
use prost_reflect::{Cardinality, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, Value};
use prost_types::{Any, Duration, Timestamp};
use serde_json::Value as Json;

use crate::{ANY, DECIMALS, DIGITS, DURATION, ProtoJsonError, TIMESTAMP, method, pool};

/// Why JSON is not a message, and where it is not.
#[derive(Debug, thiserror::Error)]
#[error("{}{problem}", if at.is_empty() { String::new() } else { format!("{at}: ") })]
pub struct ReadError {
    /// The way to the place: `messages[0].price.amount`.
    at: String,
    problem: String,
}

impl ReadError {
    fn new(problem: impl Into<String>) -> Self {
        Self { at: String::new(), problem: problem.into() }
    }

    fn expected(what: &str, found: &Json) -> Self {
        let found = match found {
            Json::Null => "null",
            Json::Bool(_) => "true or false",
            Json::Number(_) => "a number",
            Json::String(_) => "a text",
            Json::Array(_) => "a list",
            Json::Object(_) => "an object",
        };
        Self::new(format!("expected {what}, found {found}"))
    }

    fn within(mut self, part: &str) -> Self {
        let point = if self.at.is_empty() || self.at.starts_with('[') { "" } else { "." };
        self.at = format!("{part}{point}{}", self.at);
        self
    }
}

impl From<ProtoJsonError> for ReadError {
    fn from(error: ProtoJsonError) -> Self {
        Self::new(error.to_string())
    }
}

pub fn read<M: Name + Default>(json: &Json) -> Result<M, ReadError> {
    let name = M::full_name();
    let descriptor = pool()?.get_message_by_name(&name);
    let descriptor = descriptor.ok_or(ProtoJsonError::Message(name))?;
    M::decode(encoded(descriptor, json)?.as_slice())
        .map_err(|error| ReadError::new(error.to_string()))
}

/// The request of a gRPC method.
pub fn request(path: &str, json: &Json) -> Result<Vec<u8>, ReadError> {
    encoded(method(path)?.input(), json)
}

/// The bytes of a message of this type.
pub(super) fn encoded(descriptor: MessageDescriptor, json: &Json) -> Result<Vec<u8>, ReadError> {
    match descriptor.full_name() {
        ANY => packed(json).map(|any| any.encode_to_vec()),
        TIMESTAMP => text_of::<Timestamp>(json, "a time such as 2026-01-31T12:00:00Z")
            .map(|time| time.encode_to_vec()),
        DURATION => {
            text_of::<Duration>(json, "a span such as 3600s").map(|span| span.encode_to_vec())
        }
        _ => {
            let Json::Object(entries) = json else {
                return Err(ReadError::expected("an object", json));
            };
            fields(descriptor, entries.iter()).map(|message| message.encode_to_vec())
        }
    }
}

fn fields<'a>(
    descriptor: MessageDescriptor,
    entries: impl Iterator<Item = (&'a String, &'a Json)>,
) -> Result<DynamicMessage, ReadError> {
    let mut message = DynamicMessage::new(descriptor.clone());
    let mut seen = Vec::new();
    for (name, json) in entries {
        let by_name = descriptor.get_field_by_name(name);
        let Some(field) = by_name.or_else(|| descriptor.get_field_by_json_name(name)) else {
            let problem = format!("{} has no field {name:?}", descriptor.full_name());
            return Err(ReadError::new(problem));
        };
        if seen.contains(&field.number()) {
            return Err(ReadError::new(format!("{name:?} is there under two names")));
        }
        seen.push(field.number());
        if json.is_null() {
            continue;
        }
        let chosen = field.containing_oneof();
        if chosen.is_some_and(|choice| choice.fields().any(|other| message.has_field(&other))) {
            return Err(ReadError::new(format!("{name:?} and another of which one is allowed")));
        }
        let value = field_value(&field, json).map_err(|error| error.within(name))?;
        message
            .try_set_field(&field, value)
            .map_err(|error| ReadError::new(error.to_string()).within(name))?;
    }
    Ok(message)
}

fn field_value(field: &FieldDescriptor, json: &Json) -> Result<Value, ReadError> {
    if field.is_map() {
        // No message that is sent to the chain has one with anything in it.
        return match json.as_object().is_some_and(serde_json::Map::is_empty) {
            true => Ok(Value::Map(HashMap::new())),
            false => Err(ReadError::new("maps are not read")),
        };
    }
    if field.cardinality() != Cardinality::Repeated {
        return value(field, json);
    }
    let Json::Array(items) = json else { return Err(ReadError::expected("a list", json)) };
    let item = |(index, item)| {
        value(field, item).map_err(|error: ReadError| error.within(&format!("[{index}]")))
    };
    items.iter().enumerate().map(item).collect::<Result<_, _>>().map(Value::List)
}

fn value(field: &FieldDescriptor, json: &Json) -> Result<Value, ReadError> {
    Ok(match field.kind() {
        Kind::Bool => {
            Value::Bool(json.as_bool().ok_or_else(|| ReadError::expected("true or false", json))?)
        }
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(integer(json)?),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(integer(json)?),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(integer(json)?),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(integer(json)?),
        // No message of the chain has any; what is on it is the same everywhere.
        Kind::Float | Kind::Double => return Err(ReadError::new("floating point is not read")),
        Kind::String if DECIMALS.contains(&field.full_name()) => Value::String(decimal(json)?),
        Kind::String => Value::String(text(json)?.to_owned()),
        Kind::Bytes if DIGITS.contains(&field.full_name()) => Value::Bytes(digits(json)?.into()),
        Kind::Bytes => Value::Bytes(bytes(json)?.into()),
        Kind::Enum(kind) => Value::EnumNumber(match json {
            Json::String(name) => {
                let known = kind.get_value_by_name(name);
                let unknown = || ReadError::new(format!("{} has no {name:?}", kind.full_name()));
                known.ok_or_else(unknown)?.number()
            }
            _ => integer(json)?,
        }),
        Kind::Message(descriptor) => {
            let bytes = encoded(descriptor.clone(), json)?;
            let message = DynamicMessage::decode(descriptor, bytes.as_slice());
            Value::Message(message.map_err(|error| ReadError::new(error.to_string()))?)
        }
    })
}

/// A packed message: its fields beside `@type`, or its bytes where the type is not known.
fn packed(json: &Json) -> Result<Any, ReadError> {
    let Json::Object(entries) = json else { return Err(ReadError::expected("an object", json)) };
    let type_url = entries.get("@type").ok_or_else(|| ReadError::new("\"@type\" is missing"))?;
    let type_url = text(type_url).map_err(|error| error.within("@type"))?;
    let name = type_url.strip_prefix('/').unwrap_or_default();
    let rest = || entries.iter().filter(|(key, _)| *key != "@type");
    let known = pool()?.get_message_by_name(name);
    let value = match known.filter(|known| ![ANY, TIMESTAMP, DURATION].contains(&known.full_name()))
    {
        Some(descriptor) => fields(descriptor, rest())?.encode_to_vec(),
        None => match entries.get("value") {
            Some(value) if rest().count() == 1 => {
                bytes(value).map_err(|error| error.within("value"))?
            }
            _ => {
                return Err(ReadError::new(format!("messages of type {type_url:?} are not known")));
            }
        },
    };
    Ok(Any { type_url: type_url.to_owned(), value })
}

fn text(json: &Json) -> Result<&str, ReadError> {
    json.as_str().ok_or_else(|| ReadError::expected("a text", json))
}

/// A number, or the text of one: JSON's own are too small for some.
fn integer<T: FromStr>(json: &Json) -> Result<T, ReadError> {
    let digits = match json {
        Json::Number(number) => number.to_string(),
        Json::String(text) => text.clone(),
        _ => return Err(ReadError::expected("a whole number", json)),
    };
    let wrong = || ReadError::new(format!("{digits:?} is not a whole number of this field's size"));
    digits.parse().map_err(|_| wrong())
}

fn decimal(json: &Json) -> Result<String, ReadError> {
    let text = text(json)?;
    // Nothing is written as nothing.
    if text.is_empty() {
        return Ok(String::new());
    }
    let wrong = |error: &dyn Display| ReadError::new(format!("{text:?} is no decimal: {error}"));
    text.parse::<Dec>().map(Dec::to_wire).map_err(|error| wrong(&error))
}

fn digits(json: &Json) -> Result<Vec<u8>, ReadError> {
    let text = text(json)?;
    match text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit()) {
        true => Ok(text.as_bytes().to_vec()),
        false => Err(ReadError::new(format!("{text:?} is not a whole number"))),
    }
}

fn bytes(json: &Json) -> Result<Vec<u8>, ReadError> {
    let wrong = |error| ReadError::new(format!("not base64: {error}"));
    STANDARD.decode(text(json)?).map_err(wrong)
}

fn text_of<T: FromStr<Err: Display>>(json: &Json, what: &str) -> Result<T, ReadError> {
    let text = text(json)?;
    text.parse().map_err(|error| ReadError::new(format!("{text:?} is not {what}: {error}")))
}
