//! Where the daemon takes over.

use akash_chain::keys::SecretKey;
use provider_daemon::config::{Config, Reload};
use tokio::sync::mpsc;

/// Runs the provider until `stop` is ready.
///
/// # Errors
///
/// Always, in this version: it can look at its settings and ask the chain, and no more.
#[expect(clippy::unused_async, reason = "the daemon waits")]
pub(super) async fn start(
    config: Config,
    secret: SecretKey,
    stop: impl Future<Output = ()>,
    reloads: mpsc::Receiver<Reload>,
) -> anyhow::Result<()> {
    drop((secret, stop, reloads));
    anyhow::bail!(
        "the provider {} is registered and its settings are right, but this version cannot run it \
         yet; --check shows what would run",
        config.provider
    )
}
