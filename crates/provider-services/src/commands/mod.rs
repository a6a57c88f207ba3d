//! What each command does: one file per group of commands.

mod completion;
mod sdl;
pub(crate) mod version;

use std::process::ExitCode;

use crate::cli::Command;
use crate::streams::Streams;

/// Runs a command. An error is told by the caller; a command that has told everything itself
/// answers with the exit code.
pub(crate) fn run(command: Command, streams: &mut Streams<'_>) -> anyhow::Result<ExitCode> {
    match command {
        Command::Sdl(command) => sdl::run(&command, streams),
        Command::SdlToManifest(args) => sdl::to_manifest(&args, streams),
        Command::Completion(args) => completion::run(&args, streams),
        Command::Version(args) => version::run(&args, streams),
    }
}
