//! Where two objects differ.

use std::fmt;

use serde_json::Value;

/// A place where what was built is not what was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub object: String,
    /// Where in it; empty for the object as a whole.
    pub path: String,
    /// What was built there; `None` if nothing.
    pub built: Option<Value>,
    /// What was recorded there; `None` if nothing.
    pub recorded: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, path, built, recorded } = self;
        writeln!(f, "{object}{path}")?;
        let show = |value: &Option<Value>| {
            value.as_ref().map_or_else(|| "nothing".to_owned(), ToString::to_string)
        };
        writeln!(f, "  - recorded {}", show(recorded))?;
        write!(f, "  + built    {}", show(built))
    }
}

/// Every place where two values of `object` differ, as deep as possible.
pub(super) fn differences(object: &str, built: &Value, recorded: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    walk(object, String::new(), Some(built), Some(recorded), &mut found);
    found
}

fn walk(
    object: &str,
    path: String,
    built: Option<&Value>,
    recorded: Option<&Value>,
    found: &mut Vec<Difference>,
) {
    match (built, recorded) {
        (Some(Value::Object(ours)), Some(Value::Object(theirs))) => {
            let mut keys: Vec<&String> = ours.keys().chain(theirs.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                walk(object, format!("{path} .{key}"), ours.get(key), theirs.get(key), found);
            }
        }
        (Some(Value::Array(ours)), Some(Value::Array(theirs))) => {
            for index in 0..ours.len().max(theirs.len()) {
                let path = format!("{path}[{index}]");
                walk(object, path, ours.get(index), theirs.get(index), found);
            }
        }
        _ if built == recorded => {}
        _ => found.push(Difference {
            object: object.to_owned(),
            path,
            built: built.cloned(),
            recorded: recorded.cloned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_difference_is_found_whoever_has_more() {
        let built = json!({"a": 1, "b": {"c": [1, 2]}, "d": null});
        let recorded = json!({"a": 1, "b": {"c": [1, 3, 4]}, "e": 5});
        let places: Vec<_> =
            differences("o", &built, &recorded).into_iter().map(|found| found.path).collect();
        assert_eq!(places, [" .b .c[1]", " .b .c[2]", " .d", " .e"]);
        assert!(differences("o", &built, &built).is_empty());
    }
}
