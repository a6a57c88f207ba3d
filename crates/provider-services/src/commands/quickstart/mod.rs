//! `quickstart`: a chain, a provider and a tenant in one process, for whoever wants to see it.
//!
//! ```text
//! ports ─► chain (devnet, keys) ─► provider (registered, on a simulated cluster) ─► tenant (deploy)
//!                                                                                       │
//!            --once: every printed command is run, then the end    ◄── guide ◄──────────┘
//!            otherwise: earnings, until Ctrl-C
//! ```
//!
//! All of it ends with the process; what it kept is in a directory that is removed, unless --home
//! names one.

mod check;
mod guide;
mod provider;
mod stage;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use crate::app::{block_on_threads, stop_signal};
use crate::console::Streams;
use crate::surroundings::Surroundings;
use stage::{Place, Stage};

pub(crate) const HELP: &str = "\
The cluster is SIMULATED: leases, bids, payments and manifests are real, containers are not.

Examples:
  provider-services quickstart
  provider-services quickstart --once
  provider-services quickstart --home ~/akash-quickstart";

/// How long the provider may take to end in order.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// Arguments of `quickstart`. With `--home`, its state is kept there.
#[derive(Debug, Args)]
pub(crate) struct QuickstartArgs {
    /// Try every command that it shows, and end: 0 if all works
    #[arg(long)]
    once: bool,
}

pub(crate) fn run(
    args: &QuickstartArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let place = Place::make(surroundings.flag_home())?;
    let kept: Option<PathBuf> = place.kept().map(Into::into);
    let ended = block_on_threads(async {
        let mut stop = std::pin::pin!(stop_signal()?);
        let mut stage = tokio::select! {
            stage = Stage::set(place.path(), streams) => stage?,
            () = &mut stop => return Ok(()),
        };
        let shown = tokio::select! {
            shown = stage.show(args.once, streams) => shown,
            () = &mut stop => Ok(()),
        };
        // Streams are told that the provider stops, as by `run`.
        let _ = tokio::time::timeout(LAST_WORDS, stage.stop()).await;
        shown
    });
    if ended.is_err() {
        streams.tell(&place.last_words());
    }
    drop(place);
    streams.tell(&match &kept {
        Some(home) => format!("\nstopped; its state is kept in {}\n", home.display()),
        None => "\nstopped; nothing is left behind\n".to_owned(),
    });
    ended.map(|()| ExitCode::SUCCESS)
}
