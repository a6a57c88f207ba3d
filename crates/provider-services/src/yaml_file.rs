//! Small YAML files that people write, as a tree.

use std::path::Path;

use anyhow::{Context, bail};
use saphyr_parser::{Event, Parser};

use crate::output::Document;

/// Deeper no file of ours goes.
const MAX_DEPTH: usize = 16;
const MAX_BYTES: u64 = 1 << 20;

/// Reads the first document of a file. Every scalar is a text: what it means is the reader's
/// business.
pub(crate) fn read(path: &Path) -> anyhow::Result<Document> {
    let size = std::fs::metadata(path).map(|file| file.len());
    let text = size.and_then(|size| match size {
        ..=MAX_BYTES => std::fs::read_to_string(path),
        _ => Err(std::io::ErrorKind::FileTooLarge.into()),
    });
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text).with_context(|| format!("{} is not usable", path.display()))
}

fn parse(text: &str) -> anyhow::Result<Document> {
    let mut open: Vec<Open> = Vec::new();
    for item in Parser::new_from_str(text) {
        let (event, span) = item?;
        let line = span.start.line();
        let value = match event {
            Event::Scalar(text, ..) => Document::text(text),
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                if open.len() >= MAX_DEPTH {
                    bail!("line {line}: nested too deeply");
                }
                open.push(match event {
                    Event::SequenceStart(..) => Open::List(Vec::new()),
                    _ => Open::Map(Vec::new(), None),
                });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(items)) => Document::List(items),
                Some(Open::Map(entries, _)) => Document::Map(entries),
                None => continue,
            },
            Event::Alias(_) => bail!("line {line}: aliases are not supported here"),
            Event::StreamEnd | Event::DocumentEnd => break,
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => continue,
        };
        match open.last_mut() {
            None => return Ok(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map(entries, key)) => match (key.take(), value) {
                (None, Document::Text(name)) => {
                    if entries.iter().any(|(known, _)| *known == name) {
                        bail!("line {line}: key {name:?} is there twice");
                    }
                    *key = Some(name);
                }
                (None, _) => bail!("line {line}: a key must be a text"),
                (Some(name), value) => entries.push((name, value)),
            },
        }
    }
    Ok(Document::Map(Vec::new()))
}

/// A list or map whose end has not been seen.
enum Open {
    List(Vec<Document>),
    Map(Vec<(String, Document)>, Option<String>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_maps_become_a_tree_of_texts() {
        let read = parse("# who\nhost: https://a:1\nattributes:\n  - {key: n, value: 1}\n  - key: b\n    value: ''\n").unwrap();
        assert_eq!(
            read.to_json(),
            r#"{"host":"https://a:1","attributes":[{"key":"n","value":"1"},{"key":"b","value":""}]}"#
        );
        assert_eq!(parse("").unwrap(), Document::Map(vec![]));
    }

    #[test]
    fn what_nobody_would_write_is_refused() {
        for bad in ["a: 1\na: 2\n", "a: *x\n", "a: [\n", &"[".repeat(40), "? [a]\n: 1\n"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
