//! Where the daemon takes over.

use akash_chain::keys::SecretKey;
use anyhow::Context;
use provider_daemon::config::{Config, Reload};
use tokio::sync::mpsc;

use crate::commands::version::FOR_DAEMON;

/// Runs the provider until `stop` is ready.
pub(super) async fn start(
    config: Config,
    secret: SecretKey,
    stop: impl Future<Output = ()>,
    reloads: mpsc::Receiver<Reload>,
) -> anyhow::Result<()> {
    provider_daemon::run(FOR_DAEMON, config, secret, stop, reloads)
        .await
        .context("the provider does not run")
}
