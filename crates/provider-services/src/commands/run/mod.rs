//! `run`: the provider itself.
//!
//! ```text
//! args ─► gather (keyring, provider.yaml) ─► judge ─► --check: summary
//!                                              │
//!                                              └─► registered? ─► the daemon, SIGHUP beside it
//! ```

mod args;
mod gather;
mod reload;

use std::process::ExitCode;

use akash_keys::SecretKey;
use anyhow::Context;
use gather::Gathered;
use provider_daemon::config::{Cluster, Config, Given, Reload};
use provider_daemon::log;
use reload::Reloader;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::app::{block_on, block_on_threads};
use crate::commands::version::FOR_DAEMON;
use crate::console::Streams;
use crate::surroundings::Surroundings;

pub(crate) use args::RunArgs;
pub(crate) use gather::judge;

pub(crate) const HELP: &str = "\
Settings come from flags, from the environment, and from provider.yaml (--provider-config), where a
key is a flag without its dashes: bidpricecpuscale, deployment_ingress_domain. The first of them
wins. SIGHUP reads provider.yaml again; SIGTERM and SIGINT stop the provider and leave bids, leases
and what runs as they are.

Examples:
  provider-services run --from provider --chain-id akashnet-2 --check
  provider-services run --from provider --chain-id local --bid-price-cpu-scale 0.004
  AP_FROM=provider AP_CHAIN_ID=local provider-services run --provider-config provider.yaml";

/// How many changes may wait to be taken over.
const RELOADS: usize = 4;

pub(crate) fn run(
    args: &RunArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let Gathered { given, secret } = gather::gather(args, surroundings, streams.console);
    let (config, notes) = match gather::judge(&given) {
        Ok(judged) => judged,
        Err(errors) => return Err(gather::refuse(&errors, streams)),
    };
    if args.check {
        for note in &notes {
            streams.tell(&format!("note: {note}\n"));
        }
        streams.print(&gather::summary(&config, &streams.stdout_palette))?;
        if config.cluster == Cluster::Kubernetes {
            streams.print(&block_on(async { Ok(gather::definitions(&config).await) })?)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let secret = secret.context("the key that signs is not in the keyring")?;
    std::fs::create_dir_all(&config.home)
        .with_context(|| format!("cannot create {}", config.home.display()))?;
    let log = log::start(&config.log)?;
    for note in &notes {
        tracing::warn!(setting = note.setting, "{note}");
    }
    block_on_threads(serve(config, given, secret, log))?;
    Ok(ExitCode::SUCCESS)
}

async fn serve(
    config: Config,
    given: Given,
    secret: SecretKey,
    log: log::LogHandle,
) -> anyhow::Result<()> {
    let context = "cannot listen for signals";
    let mut interrupt = signal(SignalKind::interrupt()).context(context)?;
    let mut terminate = signal(SignalKind::terminate()).context(context)?;
    let mut hangup = signal(SignalKind::hangup()).context(context)?;
    let mut stop = std::pin::pin!(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    });
    for (what, how) in config.summary() {
        tracing::info!(what, how, "starting");
    }
    tokio::select! {
        known = gather::registered(&config) => known?,
        () = &mut stop => return Ok(()),
    }
    let (to, reloads) = mpsc::channel(RELOADS);
    let mut reloader = Reloader { given, running: config.clone(), log, to };
    let mut daemon = std::pin::pin!(start(config, secret, stop, reloads));
    loop {
        tokio::select! {
            ended = &mut daemon => return ended,
            Some(()) = hangup.recv() => reloader.reload().await,
        }
    }
}

/// Runs the provider until `stop` is ready.
async fn start(
    config: Config,
    secret: SecretKey,
    stop: impl Future<Output = ()>,
    reloads: mpsc::Receiver<Reload>,
) -> anyhow::Result<()> {
    provider_daemon::run(FOR_DAEMON, config, secret, stop, reloads)
        .await
        .context("the provider does not run")
}
