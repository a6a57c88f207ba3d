//! Requests from the parameters of a URL, as grpc-gateway reads them: names of fields with dots
//! between them, in the .proto file's spelling or in JSON's. What is not known is left alone.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use prost::Message;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, Value};

use crate::{ProtoJsonError, method};

/// Why parameters are not a request.
#[derive(Debug, thiserror::Error)]
pub enum ParameterError {
    #[error(transparent)]
    Method(#[from] ProtoJsonError),
    #[error("{0}")]
    Query(String),
    #[error("type mismatch, parameter: {name}, error: {problem}")]
    Path {
        name: String,
        /// What is wrong, as the Go standard library says it.
        problem: String,
    },
}

/// The request of a gRPC method, made of parameters.
#[derive(Clone, Debug)]
pub struct Parameters {
    request: DynamicMessage,
    /// Names that were set: of several values of a field the first counts.
    set: Vec<String>,
}

impl Parameters {
    /// An empty request.
    pub fn of(path: &str) -> Result<Self, ProtoJsonError> {
        Ok(Self { request: DynamicMessage::new(method(path)?.input()), set: Vec::new() })
    }

    /// Sets a field that a part of the path names.
    pub fn path(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let wrong = |problem| ParameterError::Path { name: name.to_owned(), problem };
        self.put(name, value).map_err(wrong)
    }

    /// Sets a field that the query names. One that the path has set stays.
    pub fn query(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        self.put(name, value).map_err(ParameterError::Query)
    }

    /// The request as bytes.
    pub fn encode(&self) -> Vec<u8> {
        self.request.encode_to_vec()
    }

    fn put(&mut self, name: &str, text: &str) -> Result<(), String> {
        let Some((message, field)) = at(&mut self.request, name) else { return Ok(()) };
        if field.is_map() {
            return Ok(());
        }
        let Some(value) = value(&field, text)? else { return Ok(()) };
        if field.is_list() {
            if let Value::List(items) = message.get_field_mut(&field) {
                items.push(value);
            }
        } else if !self.set.iter().any(|known| known == name) {
            self.set.push(name.to_owned());
            // The value was made for this field.
            let _ = message.try_set_field(&field, value);
        }
        Ok(())
    }
}

/// The field that a name leads to, and the message that it is of.
fn at<'a>(
    message: &'a mut DynamicMessage,
    name: &str,
) -> Option<(&'a mut DynamicMessage, FieldDescriptor)> {
    let mut message = message;
    let mut parts = name.split('.').peekable();
    while let Some(part) = parts.next() {
        let descriptor = prost_reflect::ReflectMessage::descriptor(message);
        let by_name = descriptor.get_field_by_name(part);
        let field = by_name.or_else(|| descriptor.get_field_by_json_name(part))?;
        if parts.peek().is_none() {
            return Some((message, field));
        }
        if !matches!(field.kind(), Kind::Message(_)) || field.is_list() || field.is_map() {
            return None;
        }
        message = message.get_field_mut(&field).as_message_mut()?;
    }
    None
}

/// A value of one field; `None` for messages, which have no text.
fn value(field: &FieldDescriptor, text: &str) -> Result<Option<Value>, String> {
    Ok(Some(match field.kind() {
        Kind::Bool => Value::Bool(match text {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => true,
            "0" | "f" | "F" | "FALSE" | "false" | "False" => false,
            _ => return Err(syntax("ParseBool", text)),
        }),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(number("ParseInt", text)?),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(number("ParseInt", text)?),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(number("ParseUint", text)?),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(number("ParseUint", text)?),
        Kind::String => Value::String(text.to_owned()),
        Kind::Bytes => {
            let bytes = STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text));
            let wrong = |_| "illegal base64 data at input byte 0".to_owned();
            Value::Bytes(bytes.map_err(wrong)?.into())
        }
        Kind::Enum(kind) => Value::EnumNumber(match kind.get_value_by_name(text) {
            Some(known) => known.number(),
            None => number("ParseInt", text)?,
        }),
        // No request has any.
        Kind::Float | Kind::Double | Kind::Message(_) => return Ok(None),
    }))
}

fn number<T: std::str::FromStr>(function: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| {
        let digits = text.strip_prefix('-').filter(|_| function == "ParseInt").unwrap_or(text);
        match !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            true => format!("strconv.{function}: parsing {text:?}: value out of range"),
            false => syntax(function, text),
        }
    })
}

fn syntax(function: &str, text: &str) -> String {
    format!("strconv.{function}: parsing {text:?}: invalid syntax")
}

#[cfg(test)]
mod tests {
    use akash_proto::akash::market::v1beta5::QueryOrdersRequest;
    use akash_proto::cosmos::base::tendermint::v1beta1::GetBlockByHeightRequest;
    use akash_proto::cosmos::tx::v1beta1::GetTxsEventRequest;

    use super::*;

    const ORDERS: &str = "/akash.market.v1beta5.Query/Orders";

    fn orders(query: &[(&str, &str)]) -> Result<QueryOrdersRequest, ParameterError> {
        let mut parameters = Parameters::of(ORDERS)?;
        query.iter().try_for_each(|(name, value)| parameters.query(name, value))?;
        Ok(QueryOrdersRequest::decode(parameters.encode().as_slice()).unwrap())
    }

    #[test]
    fn names_with_dots_lead_into_messages() {
        let request = orders(&[
            ("filters.dseq", "18446744073709551615"),
            ("filters.state", "open"),
            ("filters.state", "closed"),
            ("pagination.key", "yO69iw=="),
            ("pagination.limit", "5"),
            ("pagination.countTotal", "true"),
            ("unknown.field", "x"),
            ("filters.state.deeper", "x"),
            ("filters", "x"),
            ("", "x"),
        ]);
        let request = request.unwrap();
        let filters = request.filters.unwrap();
        assert_eq!((filters.dseq, filters.state.as_str()), (u64::MAX, "open"));
        let page = request.pagination.unwrap();
        assert_eq!((page.limit, page.count_total, page.key.len()), (5, true, 4));
    }

    #[test]
    fn values_of_another_type_are_refused_in_the_words_of_go() {
        let text = |query| orders(query).unwrap_err().to_string();
        assert_eq!(
            text(&[("pagination.limit", "x")]),
            r#"strconv.ParseUint: parsing "x": invalid syntax"#
        );
        assert_eq!(
            text(&[("filters.gseq", "4294967296")]),
            r#"strconv.ParseUint: parsing "4294967296": value out of range"#
        );
        assert_eq!(
            text(&[("pagination.reverse", "maybe")]),
            r#"strconv.ParseBool: parsing "maybe": invalid syntax"#
        );
        let path = "/cosmos.base.tendermint.v1beta1.Service/GetBlockByHeight";
        let mut block = Parameters::of(path).unwrap();
        assert_eq!(
            block.path("height", "top").unwrap_err().to_string(),
            r#"type mismatch, parameter: height, error: strconv.ParseInt: parsing "top": invalid syntax"#
        );
        block.path("height", "7").unwrap();
        block.query("height", "8").unwrap();
        assert_eq!(GetBlockByHeightRequest::decode(block.encode().as_slice()).unwrap().height, 7);
        assert!(Parameters::of("/akash.market.v1beta5.Query/Nope").is_err());
    }

    #[test]
    fn lists_take_every_value_and_enums_names_or_numbers() {
        #[allow(deprecated)]
        let read = |order: &str| {
            let mut txs = Parameters::of("/cosmos.tx.v1beta1.Service/GetTxsEvent").unwrap();
            for (name, value) in [("events", "a"), ("events", "b"), ("order_by", order)] {
                txs.query(name, value).unwrap();
            }
            let request = GetTxsEventRequest::decode(txs.encode().as_slice()).unwrap();
            (request.events, request.order_by)
        };
        for order in ["ORDER_BY_DESC", "2"] {
            assert_eq!(read(order), (vec!["a".to_owned(), "b".to_owned()], 2));
        }
    }
}
