//! `tx provider`: what tenants can know of a provider before they meet it.

use std::path::PathBuf;

use akash_chain::tx::Message;
use akash_chain::tx::message::provider::{create_provider, update_provider};
use akash_types::{Address, Attribute, Provider as Entry};
use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueHint};

use super::session::Session;
use crate::console::Streams;
use crate::output::{Document, printable};
use crate::yaml_file;

const HELP: &str = "\
Examples:
  provider-services tx provider create provider.yaml --from provider
  provider-services tx provider update provider.yaml --from provider";

const FILE_HELP: &str = "\
The file:
  host: https://provider.example.com:8443
  info:
    email: operator@example.com
    website: https://example.com
  attributes:
    - key: region
      value: us-west

Examples:
  provider-services tx provider create provider.yaml --from provider
  provider-services tx provider update provider.yaml --from provider -y";

#[derive(Debug, Args)]
#[command(after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Provider {
    #[command(subcommand)]
    command: ProviderCommand,
}

#[derive(Debug, Subcommand)]
enum ProviderCommand {
    /// Register as a provider
    #[command(after_help = FILE_HELP)]
    Create(File),
    /// Replace what is registered of a provider
    #[command(after_help = FILE_HELP)]
    Update(File),
}

#[derive(Debug, Args)]
struct File {
    /// What to register
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    path: PathBuf,
}

impl Provider {
    pub(super) fn message(
        &self,
        session: &Session<'_>,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<Message> {
        let (ProviderCommand::Create(file) | ProviderCommand::Update(file)) = &self.command;
        let document = yaml_file::read(&file.path)?;
        for key in unused(&document) {
            let path = printable(&file.path.display().to_string());
            streams.tell(&format!("{path}: {} is not used\n", printable(key)));
        }
        let entry = entry(&document, session.from())
            .with_context(|| format!("{} is not usable", file.path.display()))?;
        Ok(match self.command {
            ProviderCommand::Create(_) => create_provider(entry),
            ProviderCommand::Update(_) => update_provider(entry),
        }?)
    }
}

/// Keys that mean nothing here; the Go program passes over them too.
fn unused(document: &Document) -> impl Iterator<Item = &str> {
    let entries = match document {
        Document::Map(entries) => entries.as_slice(),
        _ => &[],
    };
    let keys = entries.iter().map(|(key, _)| key.as_str());
    keys.filter(|key| !["host", "info", "attributes"].contains(key))
}

fn entry(document: &Document, owner: Address) -> anyhow::Result<Entry> {
    if !matches!(document, Document::Map(_)) {
        bail!("expected host, info and attributes");
    }
    let host_uri = document.scalar("host");
    if host_uri.is_empty() {
        bail!("host is missing");
    }
    Ok(Entry {
        owner,
        host_uri,
        attributes: attributes(document)?,
        email: document.scalar("info.email"),
        website: document.scalar("info.website"),
    })
}

/// The attributes that a provider.yaml lists.
pub(crate) fn attributes(document: &Document) -> anyhow::Result<Vec<Attribute>> {
    let items = document.items("attributes");
    let mut attributes: Vec<Attribute> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let (key, value) = (item.at("key"), item.at("value"));
        let (Some(key), Some(value)) =
            (key.and_then(Document::as_scalar), value.and_then(Document::as_scalar))
        else {
            bail!("attribute {} needs a key and a value", index + 1);
        };
        if attributes.iter().any(|attribute| attribute.key == key) {
            bail!("provider: duplicated attribute: {key}");
        }
        attributes.push(Attribute::new(key, value));
    }
    if items.is_empty() && !matches!(document.at("attributes"), None | Some(Document::List(_))) {
        bail!("attributes must be a list of key and value");
    }
    Ok(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

    fn read(json: serde_json::Value) -> anyhow::Result<Entry> {
        entry(&json.into(), OWNER.parse().unwrap())
    }

    #[test]
    fn a_file_becomes_an_entry() {
        let entry = read(serde_json::json!({
            "host": "https://a.example:8443",
            "info": {"email": "a@b"},
            "attributes": [{"key": "region", "value": "us-west"}, {"key": "tier", "value": "1"}],
        }))
        .unwrap();
        assert_eq!(entry.host_uri, "https://a.example:8443");
        assert_eq!((entry.email.as_str(), entry.website.as_str()), ("a@b", ""));
        assert_eq!(entry.attributes.last(), Some(&Attribute::new("tier", "1")));
    }

    #[test]
    fn keys_without_meaning_are_found() {
        let document: Document =
            serde_json::json!({"host": "", "atributes": [], "info": {}}).into();
        assert_eq!(unused(&document).collect::<Vec<_>>(), ["atributes"]);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        for (json, wanted) in [
            (serde_json::json!({}), "host is missing"),
            (serde_json::json!([]), "expected host, info and attributes"),
            (serde_json::json!({"host": "https://a", "attributes": [{"key": "x"}]}), "attribute 1"),
            (serde_json::json!({"host": "https://a", "attributes": "x"}), "must be a list"),
            (
                serde_json::json!({"host": "https://a", "attributes": [
                    {"key": "xyz", "value": "1"}, {"key": "xyz", "value": "2"}]}),
                "provider: duplicated attribute: xyz",
            ),
        ] {
            let error = read(json).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
