//! YAML that programs wrote, as JSON.

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};
use serde_json::{Map, Value};

/// Why a text could not be read.
#[derive(Debug, thiserror::Error)]
pub enum YamlError {
    #[error("not YAML")]
    Syntax(#[from] ScanError),
    /// It is YAML that has no JSON.
    #[error("line {line}: {what} has no JSON")]
    NoJson { line: usize, what: &'static str },
}

/// All documents of a text that say something.
pub fn documents(text: &str) -> Result<Vec<Value>, YamlError> {
    let mut documents = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    for item in Parser::new_from_str(text) {
        let (event, span) = item?;
        let no_json = |what| YamlError::NoJson { line: span.start.line(), what };
        let value = match event {
            Event::Scalar(text, style, ..) => scalar(&text, style),
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(items)) => Value::Array(items),
                Some(Open::Map(entries, _)) => Value::Object(entries),
                None => continue,
            },
            Event::Alias(_) => return Err(no_json("an alias")),
            _ => continue,
        };
        match open.last_mut() {
            None => documents.push(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map(entries, key)) => match (key.take(), value) {
                (Some(name), value) => {
                    entries.insert(name, value);
                }
                (None, Value::String(name)) => *key = Some(name),
                (None, Value::Number(name)) => *key = Some(name.to_string()),
                (None, _) => return Err(no_json("a key that is no text")),
            },
        }
    }
    documents.retain(|document| !document.is_null());
    Ok(documents)
}

/// A list or map whose end has not been seen.
enum Open {
    List(Vec<Value>),
    Map(Map<String, Value>, Option<String>),
}

/// What is not quoted may be something else than a text.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return text.into();
    }
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => true.into(),
        "false" => false.into(),
        _ => match text.parse::<i64>() {
            Ok(number) => number.into(),
            Err(_) => text.into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_become_what_they_say() {
        let text = "a: 1\nb: '1'\nc: [true, \"true\", ~]\nd:\n- e: x y\n    z\n---\n---\nf: {}\n";
        let read = documents(text).unwrap();
        let wanted = [
            json!({"a": 1, "b": "1", "c": [true, "true", null], "d": [{"e": "x y z"}]}),
            json!({"f": {}}),
        ];
        assert_eq!(read, wanted);
    }

    #[test]
    fn what_has_no_json_is_refused() {
        for text in ["a: &x 1\nb: *x\n", "? [a]\n: 1\n", "a: [\n"] {
            assert!(documents(text).is_err(), "{text}");
        }
    }
}
