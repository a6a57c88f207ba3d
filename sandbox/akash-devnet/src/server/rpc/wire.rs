//! Requests and answers of JSON-RPC 2.0, with CometBFT's errors.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::value::RawValue;

/// What ties an answer to its request: a number or a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Id {
    Number(i64),
    Text(String),
}

/// The id of answers to requests that cannot have one.
pub(crate) const NO_ID: Id = Id::Number(-1);

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: Id,
    pub(crate) method: String,
    pub(crate) params: Option<Box<RawValue>>,
}

/// An error, and the text that says what was wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RpcError {
    pub(crate) code: i32,
    pub(crate) message: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) data: String,
}

impl RpcError {
    pub(crate) fn parse(data: impl Into<String>) -> Self {
        Self { code: -32700, message: "Parse error. Invalid JSON", data: data.into() }
    }

    pub(crate) fn invalid_request(data: impl Into<String>) -> Self {
        Self { code: -32600, message: "Invalid Request", data: data.into() }
    }

    pub(crate) const fn method_not_found() -> Self {
        Self { code: -32601, message: "Method not found", data: String::new() }
    }

    pub(crate) fn invalid_params(data: impl Into<String>) -> Self {
        Self { code: -32602, message: "Invalid params", data: data.into() }
    }

    pub(crate) fn internal(data: impl Into<String>) -> Self {
        Self { code: -32603, message: "Internal error", data: data.into() }
    }

    pub(crate) fn server(data: impl Into<String>) -> Self {
        Self { code: -32000, message: "Server error", data: data.into() }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Response {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RpcError>,
}

impl Response {
    pub(crate) fn new(id: Option<Id>, outcome: Result<Box<RawValue>, RpcError>) -> Self {
        let (result, error) = match outcome {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Self { jsonrpc: "2.0", id, result, error }
    }

    pub(crate) fn error(id: Option<Id>, error: RpcError) -> Self {
        Self::new(id, Err(error))
    }

    pub(crate) fn to_json(&self) -> String {
        to_json(self)
    }
}

/// Several answers; one alone stands by itself.
pub(crate) fn answers_to_json(answers: &[Response]) -> String {
    match answers {
        [one] => one.to_json(),
        more => to_json(more),
    }
}

/// No value here can fail to be written: keys are texts and nothing holds a float.
fn to_json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The requests in a body; `None` for one that wants no answer.
pub(crate) fn read_requests(body: &[u8]) -> Result<Vec<Option<Request>>, String> {
    if let Ok(several) = serde_json::from_slice::<Option<Vec<&RawValue>>>(body) {
        let several = several.unwrap_or_default();
        return several.iter().map(|one| read_request(one.get().as_bytes())).collect();
    }
    Ok(vec![read_request(body)?])
}

/// The request in a frame; `None` for one that wants no answer.
pub(crate) fn read_request(body: &[u8]) -> Result<Option<Request>, String> {
    // Not a list: it would count as the fields in their order.
    let wanted: Object = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    match wanted {
        Some(fields) => Wanted::of(fields).map_err(|error| error.to_string())?.checked(),
        None => Ok(None),
    }
}

/// An object with its values unread, or null.
type Object<'a> = Option<HashMap<String, &'a RawValue>>;

struct Wanted {
    id: Option<serde_json::Value>,
    method: Option<String>,
    params: Option<Box<RawValue>>,
}

impl Wanted {
    fn of(fields: HashMap<String, &RawValue>) -> serde_json::Result<Self> {
        let text = |name: &str| fields.get(name).map_or("null", |value| value.get());
        Ok(Self {
            id: serde_json::from_str(text("id"))?,
            method: serde_json::from_str(text("method"))?,
            params: fields.get("params").map(|&params| params.to_owned()),
        })
    }

    fn checked(self) -> Result<Option<Request>, String> {
        let id = match self.id {
            None | Some(serde_json::Value::Null) => return Ok(None),
            Some(serde_json::Value::String(text)) => Id::Text(text),
            Some(serde_json::Value::Number(number)) => Id::Number(whole(&number)?),
            Some(other) => return Err(format!("json-rpc ID ({other}) is of unknown type")),
        };
        let method = self.method.unwrap_or_default();
        let params = self.params.filter(|params| params.get() != "null");
        Ok(Some(Request { id, method, params }))
    }
}

/// A whole number; CometBFT drops what stands behind the point.
fn whole(number: &serde_json::Number) -> Result<i64, String> {
    if let Some(number) = number.as_i64() {
        return Ok(number);
    }
    let text = number.to_string();
    let digits = text.split(['.', 'e', 'E']).next().unwrap_or_default();
    digits.parse().map_err(|_| format!("json-rpc ID out of int64 range, got {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_without_id_wants_no_answer() {
        for body in ["null", "{}", r#"{"method":"status"}"#, r#"{"id":null}"#] {
            assert!(read_request(body.as_bytes()).unwrap().is_none(), "{body}");
        }
        assert!(read_requests(b"[]").unwrap().is_empty());
        assert!(read_requests(b"null").unwrap().is_empty());
    }

    #[test]
    fn ids_are_numbers_or_texts() {
        let id = |body: &str| read_request(body.as_bytes()).map(|request| request.unwrap().id);
        assert_eq!(id(r#"{"id":-7}"#), Ok(Id::Number(-7)));
        assert_eq!(id(r#"{"id":1.9}"#), Ok(Id::Number(1)), "as Go converts it");
        assert_eq!(id(r#"{"id":""}"#), Ok(Id::Text(String::new())));
        assert!(id(r#"{"id":[]}"#).is_err() && id(r#"{"id":true}"#).is_err());
        assert!(id(r#"{"id":1,"method":5}"#).is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_body_breaks_the_reader(body in proptest::collection::vec(proptest::num::u8::ANY, 0..60)) {
            let _ = read_requests(&body);
            let _ = read_request(&body);
        }
    }
}
