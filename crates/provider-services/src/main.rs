//! `provider-services`: the command line of the Akash provider.
//!
//! Flags in, text and an exit code out. What is decided on the way is decided in other crates.
//! This file alone touches the process: its arguments, environment and streams are passed on.

mod app;
mod cli;
mod commands;
mod env;
mod output;
mod source;
mod streams;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use output::Palette;
use streams::Streams;

fn main() -> ExitCode {
    let variable = |name: &str| std::env::var_os(name);
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let mut streams = Streams {
        stdout_palette: Palette::choose(stdout.is_terminal(), &variable),
        stderr_palette: Palette::choose(stderr.is_terminal(), &variable),
        stdin: &mut stdin.lock(),
        stdout: &mut stdout.lock(),
        stderr: &mut stderr.lock(),
    };
    app::run(std::env::args_os(), &variable, &mut streams)
}
