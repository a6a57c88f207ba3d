//! `provider-services`: the command line of the Akash provider.
//!
//! Flags in, text and an exit code out. What is decided on the way is decided in other crates.
//! This file alone touches the process: its arguments, environment and streams are passed on.

mod app;
mod chain;
mod cli;
mod commands;
mod console;
mod output;
mod source;
mod surroundings;
mod yaml_file;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use console::{Console, Streams};
use output::Palette;

fn main() -> ExitCode {
    let variable = |name: &str| std::env::var_os(name);
    let (mut stdin, mut stdout, mut stderr) = (io::stdin(), io::stdout(), io::stderr());
    let mut streams = Streams {
        stdout_palette: Palette::choose(stdout.is_terminal(), &variable),
        stderr_palette: Palette::choose(stderr.is_terminal(), &variable),
        console: Console::new(stdin.is_terminal()),
        // Not locked: whoever asks for a passphrase reads from it too, and other threads log.
        stdin: &mut stdin,
        stdout: &mut stdout,
        stderr: &mut stderr,
    };
    app::run(std::env::args_os(), &variable, &mut streams)
}
