//! From arguments to an exit code: 0 for success, 1 for every error.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches};

use crate::cli::Cli;
use crate::console::{Streams, WriteError};
use crate::output::Palette;
use crate::surroundings::Surroundings;
use crate::{commands, surroundings};

pub(crate) fn run(
    args: impl IntoIterator<Item = OsString>,
    variable: &dyn Fn(&str) -> Option<OsString>,
    streams: &mut Streams<'_>,
) -> ExitCode {
    let holds_something = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let command = surroundings::bind_variables(Cli::command(), &holds_something);
    let parsed = command.try_get_matches_from(args).and_then(|mut matches| {
        let home_by_flag = matches.value_source("home") == Some(ValueSource::CommandLine);
        Ok((Cli::from_arg_matches_mut(&mut matches)?, home_by_flag))
    });
    let outcome = match parsed {
        Ok((cli, home_by_flag)) => {
            let surroundings = Surroundings::new(cli.globals, home_by_flag, variable);
            commands::run(cli.command, &surroundings, streams)
        }
        Err(error) => not_a_command(&error, variable, streams).map_err(Into::into),
    };
    outcome.unwrap_or_else(|error| {
        if error.downcast_ref::<WriteError>().is_some_and(WriteError::is_reader_gone) {
            return ExitCode::SUCCESS;
        }
        fail(&format!("{error:#}\n"), streams)
    })
}

/// Says what is wrong; `text` ends its own line.
fn fail(text: &str, streams: &mut Streams<'_>) -> ExitCode {
    let style = streams.stderr_palette.error;
    streams.tell(&format!("{style}Error:{style:#} {text}"));
    ExitCode::FAILURE
}

/// Answers what clap did not make a command of: a wish for help, or a mistake.
fn not_a_command(
    error: &clap::Error,
    variable: &dyn Fn(&str) -> Option<OsString>,
    streams: &mut Streams<'_>,
) -> Result<ExitCode, WriteError> {
    let styled = error.render();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            streams.print(&help(&styled, &streams.stdout_palette))?;
            Ok(ExitCode::SUCCESS)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            streams.tell(&(help(&styled, &streams.stderr_palette) + "\n"));
            Ok(fail("a command is missing\n", streams))
        }
        _ => {
            let text = styled.to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            let text = match (variable_to_blame(error, variable), text.split_once('\n')) {
                (Some(name), Some((first, rest))) => format!("{first} (from {name})\n{rest}"),
                _ => text.to_owned(),
            };
            Ok(fail(&text, streams))
        }
    }
}

fn help(styled: &StyledStr, palette: &Palette) -> String {
    if palette.is_coloured() { styled.ansi().to_string() } else { styled.to_string() }
}

/// The variable that a refused value came from, which clap does not say.
fn variable_to_blame(
    error: &clap::Error,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let flag = text(ContextKind::InvalidArg)?.strip_prefix("--")?.split([' ', '=', '[']).next()?;
    let value = text(ContextKind::InvalidValue)?;
    let name = surroundings::variable_of(flag, &|name| {
        variable(name).is_some_and(|held| !held.is_empty())
    })?;
    (variable(&name)?.to_str() == Some(value)).then_some(name)
}

/// How long threads have to end once everything is over.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Runs a future to its end on this thread.
pub(crate) fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the async runtime")?;
    runtime.block_on(future)
}

/// Runs a future to its end, with a thread for each core to help.
pub(crate) fn block_on_threads<T>(
    future: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the async runtime")?;
    let ended = runtime.block_on(future);
    // A thread that does not end by itself keeps nobody from leaving.
    runtime.shutdown_timeout(LAST_WORDS);
    ended
}

/// Ready when somebody wants the program to stop.
pub(crate) fn stop_signal() -> anyhow::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let context = "cannot listen for signals";
    let mut interrupt = signal(SignalKind::interrupt()).context(context)?;
    let mut terminate = signal(SignalKind::terminate()).context(context)?;
    let mut hangup = signal(SignalKind::hangup()).context(context)?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}
