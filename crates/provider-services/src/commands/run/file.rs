//! provider.yaml, as the configuration takes it.

use std::path::Path;

use anyhow::bail;
use provider_daemon::config::{FileContent, GivenFile};

use crate::commands::tx::provider::attributes;
use crate::output::Document;
use crate::yaml_file;

/// Keys that are not settings: what is registered on chain.
const REGISTERED: [&str; 3] = ["host", "info", "attributes"];

/// Reads the file. What is wrong with it is part of what was given.
pub(super) fn read(path: &Path) -> GivenFile {
    let content = yaml_file::read(path).and_then(|document| content(&document));
    GivenFile { path: path.to_owned(), content: content.map_err(|error| format!("{error:#}")) }
}

fn content(document: &Document) -> anyhow::Result<FileContent> {
    let Document::Map(entries) = document else {
        bail!("expected host, info, attributes and settings");
    };
    let mut settings = Vec::new();
    for (key, value) in entries {
        if !REGISTERED.contains(&key.as_str()) {
            settings.push((key.clone(), text(key, value)?));
        }
    }
    Ok(FileContent { attributes: attributes(document)?, settings })
}

/// A value as a flag would have it: items with commas between, entries as `key=value`.
fn text(key: &str, value: &Document) -> anyhow::Result<String> {
    let scalar = |value: &Document| match value.as_scalar() {
        Some(text) => Ok(text),
        None => bail!("{key} is nested too deeply: give a text, a list or a map of texts"),
    };
    let parts: Vec<String> = match value {
        Document::List(items) => items.iter().map(scalar).collect::<anyhow::Result<_>>()?,
        Document::Map(entries) => entries
            .iter()
            .map(|(name, value)| Ok(format!("{name}={}", scalar(value)?)))
            .collect::<anyhow::Result<_>>()?,
        other => return scalar(other),
    };
    Ok(parts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: serde_json::Value) -> anyhow::Result<Vec<(String, String)>> {
        content(&json.into()).map(|content| content.settings)
    }

    #[test]
    fn settings_are_texts_lists_or_maps() {
        let settings = read(serde_json::json!({
            "host": "https://a:8443",
            "info": {"email": "a@b"},
            "bidpricecpuscale": "0.1",
            "deployment_blocked_hostnames": ["a.example", ".b.example"],
            "bidpricestoragescale": {"beta3": "0.2", "ephemeral": "0.1"},
        }))
        .unwrap();
        let wanted = [
            ("bidpricecpuscale", "0.1"),
            ("deployment_blocked_hostnames", "a.example,.b.example"),
            ("bidpricestoragescale", "beta3=0.2,ephemeral=0.1"),
        ];
        assert_eq!(settings.len(), wanted.len());
        for (key, text) in wanted {
            assert!(settings.contains(&(key.to_owned(), text.to_owned())), "{settings:?}");
        }
    }

    #[test]
    fn what_is_no_file_of_settings_is_refused() {
        for (json, wanted) in [
            (serde_json::json!([]), "expected host"),
            (serde_json::json!({"a": [["x"]]}), "nested too deeply"),
            (serde_json::json!({"attributes": [{"key": "x"}]}), "attribute 1"),
        ] {
            let error = read(json).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
