//! `completion`: the commands' names and flags, for shells.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::cli::{Cli, Completion, NAME};
use crate::console::Streams;

pub(crate) fn run(args: &Completion, streams: &mut Streams<'_>) -> anyhow::Result<ExitCode> {
    // The generator panics when it cannot write, so it gets what can always be written to.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), NAME, &mut script);
    streams.print(&one_spelling(&String::from_utf8_lossy(&script)))?;
    Ok(ExitCode::SUCCESS)
}

/// Bash scripts for a program with a hyphen in its name spell that name in two ways and so never
/// complete a subcommand (<https://github.com/clap-rs/clap/issues/6421>). Needed until clap_complete
/// has settled on one; without effect on what is right already.
fn one_spelling(script: &str) -> String {
    script.replace(&NAME.replace('-', "__subcmd__"), &NAME.replace('-', "__"))
}
