//! `man`: the manual, a page for each command.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Command, CommandFactory};

use crate::cli::{Cli, Man};
use crate::console::Streams;
use crate::output::counted;

pub(crate) fn run(args: &Man, streams: &mut Streams<'_>) -> anyhow::Result<ExitCode> {
    let directory = &args.directory;
    std::fs::create_dir_all(directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    let mut program = Cli::command();
    // Gives each command the names of those above it, and the flags that hold for all.
    program.build();
    let count = write(&program, directory)
        .with_context(|| format!("cannot write to {}", directory.display()))?;
    streams.tell(&format!("{} in {}\n", counted(count, "page"), directory.display()));
    Ok(ExitCode::SUCCESS)
}

/// Writes the pages of a command and of all below it; how many.
fn write(command: &Command, directory: &Path) -> std::io::Result<usize> {
    let mut count = 1;
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let page = clap_mangen::Man::new(command.clone().name(name.clone()));
    let mut text = Vec::new();
    page.render(&mut text)?;
    std::fs::write(directory.join(format!("{name}.1")), text)?;
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        count += write(below, directory)?;
    }
    Ok(count)
}
