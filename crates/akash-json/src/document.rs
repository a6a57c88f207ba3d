//! A result as a tree that prints as JSON, as YAML, or as lines for people.

use std::fmt::Write;

use crate::yaml;

/// A value of a result. Keys keep their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// Nothing, such as a message that is not set.
    Null,
    Bool(bool),
    /// Digits, as they are to be written.
    Number(String),
    /// A text; also numbers of 64 bits.
    Text(String),
    List(Vec<Document>),
    Map(Vec<(String, Document)>),
}

impl Document {
    pub fn map<const N: usize>(entries: [(&str, Self); N]) -> Self {
        Self::Map(entries.map(|(key, value)| (key.to_owned(), value)).into())
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A number that JSON can hold as such.
    pub fn number(number: impl Into<i64>) -> Self {
        Self::Number(number.into().to_string())
    }

    /// The value at a path of keys: `bid.id.dseq`.
    pub fn at(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, |value, key| match value {
            Self::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, at)| at),
            _ => None,
        })
    }

    /// The text of a scalar at a path; empty if there is none.
    pub fn scalar(&self, path: &str) -> String {
        self.at(path).and_then(Self::as_scalar).unwrap_or_default()
    }

    /// The items of a list at a path; none if there is no list.
    pub fn items(&self, path: &str) -> &[Self] {
        match self.at(path) {
            Some(Self::List(items)) => items,
            _ => &[],
        }
    }

    pub fn as_scalar(&self) -> Option<String> {
        match self {
            Self::Bool(value) => Some(value.to_string()),
            Self::Number(text) | Self::Text(text) => Some(text.clone()),
            Self::Null | Self::List(_) | Self::Map(_) => None,
        }
    }

    /// JSON on one line, as the Go program prints it: without spaces.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.put_json(&mut out);
        out
    }

    /// YAML, as the Go program makes it from JSON: keys in order of the alphabet.
    pub fn to_yaml(&self) -> String {
        yaml::render(self)
    }

    fn put_json(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(digits) => out.push_str(digits),
            Self::Text(text) => put_text(text, out),
            Self::List(items) => {
                put_all('[', items, ']', out, |item, out| item.put_json(out));
            }
            Self::Map(entries) => put_all('{', entries, '}', out, |(key, value), out| {
                put_text(key, out);
                out.push(':');
                value.put_json(out);
            }),
        }
    }
}

fn put_all<T>(open: char, items: &[T], close: char, out: &mut String, put: fn(&T, &mut String)) {
    out.push(open);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        put(item, out);
    }
    out.push(close);
}

/// As Go quotes: also what could end a script element or a line of JavaScript.
fn put_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

impl From<serde_json::Value> for Document {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(value),
            serde_json::Value::Number(number) => Self::Number(number.to_string()),
            serde_json::Value::String(text) => Self::Text(text),
            serde_json::Value::Array(items) => {
                Self::List(items.into_iter().map(Into::into).collect())
            }
            serde_json::Value::Object(entries) => {
                Self::Map(entries.into_iter().map(|(key, value)| (key, value.into())).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_compact_and_quoted_as_go_does() {
        let document = Document::map([
            ("b", Document::List(vec![Document::Null, Document::number(1), Document::Bool(true)])),
            ("a", Document::text("<\"x\\y\u{1}\n")),
            ("e", Document::Map(vec![])),
        ]);
        assert_eq!(document.to_json(), r#"{"b":[null,1,true],"a":"\u003c\"x\\y\u0001\n","e":{}}"#);
    }

    #[test]
    fn paths_lead_to_values_or_nowhere() {
        let document: Document = serde_json::json!({"a": {"b": "x", "c": [{"d": 1}]}}).into();
        assert_eq!(document.scalar("a.b"), "x");
        assert_eq!(
            document.items("a.c").first().map(|item| item.scalar("d")).as_deref(),
            Some("1")
        );
        assert_eq!(document.scalar("a.z"), "");
        assert!(document.items("a.b").is_empty());
    }
}
