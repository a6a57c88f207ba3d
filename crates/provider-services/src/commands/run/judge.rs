//! From what was given to a configuration that can start, or everything that is wrong with it.

use std::sync::Arc;
use std::time::Duration;

use kube_access::{Access, KubeClient};
use provider_daemon::config::{Config, ConfigError, Given, Note, missing_files};
use provider_kube::definitions;

use crate::output::{Palette, counted, printable};
use crate::streams::Streams;

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

/// What would run, for people.
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
