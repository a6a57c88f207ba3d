//! Bringing together what the operator gave: flags, environment, keyring and provider.yaml.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use akash_chain::query::{Connection, Node, Query};
use akash_chain::transport::{Endpoint, RpcClient};
use akash_keys::SecretKey;
use akash_types::Backoff;
use anyhow::bail;
use kube_access::{Access, KubeClient};
use provider_daemon::config::{
    Config, ConfigError, FileContent, Given, GivenFile, Note, missing_files, table,
};
use provider_kube::definitions;

use super::args::RunArgs;
use crate::chain::{Account, KeyringArgs};
use crate::commands::tx::provider::attributes;
use crate::console::{Console, Streams};
use crate::output::{Document, Palette, counted, printable};
use crate::surroundings::Surroundings;
use crate::yaml_file;

/// Signed to get a number that nobody else can know and that is the same at every start.
const SEED_TEXT: &[u8] = b"provider-services: chance of prices";

/// What was given, and the key that signs if there is one.
pub(super) struct Gathered {
    pub(super) given: Given,
    pub(super) secret: Option<SecretKey>,
}

pub(super) fn gather(args: &RunArgs, surroundings: &Surroundings, console: Console) -> Gathered {
    let mut given = Given {
        values: args.values(surroundings),
        user_home: surroundings.user_home().map(Into::into),
        strays: surroundings.strays().to_vec(),
        outbound: surroundings.environment_outbound().clone(),
        ..Given::default()
    };
    given.file = args.text("provider-config").map(|path| read(&PathBuf::from(path)));
    // The key may be named in the file.
    let said = |name: &str| given.said(name).map(|value| value.text);
    let key = said("from").filter(|from| !from.is_empty()).map(|from| {
        let default = || table::settings().find(|s| s.name == "keyring-backend").map(|s| s.default);
        let backend = said("keyring-backend").or_else(|| default().map(str::to_owned));
        let keyring = KeyringArgs {
            keyring_backend: backend.unwrap_or_default().parse()?,
            keyring_dir: said("keyring-dir").filter(|dir| !dir.is_empty()).map(PathBuf::from),
        };
        let account = Account::find(&from, &keyring, surroundings, console)?;
        anyhow::Ok((account.address, account.secret()?))
    });
    let secret = match key {
        None => None,
        Some(Ok((address, secret))) => {
            given.signer = Some(Ok(address));
            given.seed = seed(&secret);
            Some(secret)
        }
        Some(Err(error)) => {
            given.signer = Some(Err(format!("{error:#}")));
            None
        }
    };
    Gathered { given, secret }
}

/// Reads again what can have changed since.
pub(super) fn again(given: &Given) -> Given {
    let file = given.file.as_ref().map(|before| read(&before.path));
    Given { file, ..given.clone() }
}

fn seed(secret: &SecretKey) -> u64 {
    let signature = secret.sign(SEED_TEXT);
    signature.iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}

/// How long the API server may take for an answer to `--check`.
const LIMIT: Duration = Duration::from_secs(10);

/// The configuration, if a provider can start with it.
pub(crate) fn judge(given: &Given) -> Result<(Config, Vec<Note>), Vec<ConfigError>> {
    let (config, notes) = Config::from_given(given)?;
    let mut errors = missing_files(&config);
    errors.extend(config.startable().err());
    if errors.is_empty() { Ok((config, notes)) } else { Err(errors) }
}

/// Tells every error, and sums them up.
pub(super) fn refuse(errors: &[ConfigError], streams: &mut Streams<'_>) -> anyhow::Error {
    for error in errors {
        streams.tell(&format!("{}\n", printable(&error.to_string())));
    }
    anyhow::anyhow!("the provider cannot run: {} wrong", wrong(errors.len()))
}

fn wrong(count: usize) -> String {
    format!("{} {}", counted(count, "setting"), if count == 1 { "is" } else { "are" })
}

pub(super) fn summary(config: &Config, palette: &Palette) -> String {
    let strong = palette.strong;
    let mut text = format!("{strong}The provider can run.{strong:#}\n\n");
    for (what, how) in config.summary() {
        text.push_str(&format!("  {what:<11}  {}\n", printable(&how)));
    }
    text
}

/// What is wrong with the custom resource definitions of the cluster, a line each. That they could
/// not be checked is no error: settings are also checked where the cluster cannot be reached.
pub(super) async fn definitions(config: &Config) -> String {
    let lost = async {
        let access = Access::find(&config.kubernetes.kubeconfig, &config.outbound).await?;
        let client = KubeClient::new(access.client()?, LIMIT, Arc::new(|_: &str, _| {}));
        let namespace = &config.kubernetes.manifest_namespace;
        anyhow::Ok(definitions::lost_fields(&client, namespace).await?)
    };
    let remedy = definitions::REMEDY;
    match lost.await {
        Ok(lost) => lost
            .iter()
            .map(|field| format!("\nwarning: the cluster does not keep {field}: {remedy}\n"))
            .collect(),
        Err(error) => {
            let why = printable(&format!("{error:#}"));
            format!("\nThe custom resource definitions were not checked: {why}\n")
        }
    }
}

/// Between rounds of questions.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(1), most: Duration::from_secs(30) };

/// What a node says.
enum Said {
    Yes,
    /// It is not.
    No,
}

/// Asks the nodes, one after the other and as often as it takes, until one of them knows.
pub(super) async fn registered(config: &Config) -> anyhow::Result<()> {
    let mut rounds = 0_u32;
    loop {
        for node in &config.chain.nodes {
            match ask(config, node).await {
                Ok(Said::Yes) => return Ok(()),
                Ok(Said::No) => bail!(
                    "the provider {} is not registered on {}: register it with \
                     `provider-services tx provider create provider.yaml --from …`",
                    config.provider,
                    config.chain.chain_id
                ),
                Err(error) => {
                    let error = format!("{error:#}");
                    tracing::warn!(%node, error, "cannot ask whether we are registered");
                }
            }
        }
        rounds = rounds.saturating_add(1);
        let wait = BACKOFF.within(rounds, u64::from(std::process::id()));
        tracing::info!(
            seconds = wait.as_secs(),
            "no node knows whether we are registered; waiting"
        );
        tokio::time::sleep(wait).await;
    }
}

async fn ask(config: &Config, node: &Endpoint) -> anyhow::Result<Said> {
    let limits = config.chain.limits();
    let rpc = RpcClient::new(node.clone(), limits)?;
    let status = Node::new(rpc.clone()).status().await?;
    let wanted = &config.chain.chain_id;
    if status.chain_id != *wanted {
        bail!("it is on chain {}, not on {wanted}; check --node and --chain-id", status.chain_id);
    }
    if status.catching_up {
        bail!("it is catching up, at height {}", status.latest_height);
    }
    let query = Query::new(Connection::new(&rpc, config.chain.grpc.as_ref(), limits)?);
    let found = query.provider(config.provider).await?.value;
    Ok(if found.is_some() { Said::Yes } else { Said::No })
}

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
