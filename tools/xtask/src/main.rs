//! The project's automation, run as `cargo xtask <verb>`.
//!
//! One verb per file. What is checked, with which tool and in which version is
//! decided here and nowhere else: developers and CI run the same command.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing to the developer's terminal is what this program is for"
)]

mod bench;
mod changed;
mod claims;
mod compile;
mod fuzz;
mod golden_kube;
mod image;
mod libtest;
mod lines;
mod metadata;
mod packages;
mod parallel;
mod process;
mod program;
mod programs;
mod report;
mod rules;
mod runner;
mod simulate;
mod steps;
mod test;
mod tools;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  cargo xtask test                      what needs no big builds; CI runs it first
  cargo xtask test --real               the rest of what CI runs: Kubernetes, fuzzing, licences
  cargo xtask test --only changed       quick checks, and tests of crates with changes
  cargo xtask bench                     which benches there are
  cargo xtask bench sdl --output json   the figures of one, as JSON
  cargo xtask fuzz sdl --seconds 600    one fuzz target for ten minutes
  cargo xtask simulate --seeds 2000     two thousand scenarios of a provider
  cargo xtask image --output image.tar  the provider as an OCI image";

/// Checks, benches and fuzzing of the provider's workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Check the workspace, as CI does
    Test(test::Args),
    /// Run a bench and print its figures
    Bench(bench::Args),
    /// Run fuzz targets for as long as you like
    Fuzz(fuzz::Args),
    /// Play seeds of the deterministic simulation
    Simulate(simulate::Args),
    /// Build recorded deployments and print where they differ from the Go provider's
    GoldenKube(golden_kube::Args),
    /// Build the provider and write it as an OCI image
    Image(image::Args),
    /// Build the programs that tests start
    Programs(programs::Args),
    /// Count lines of code, comments and tests
    Lines(lines::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().verb {
        Verb::Test(args) => test::run(&args),
        Verb::Bench(args) => bench::run(&args),
        Verb::Fuzz(args) => fuzz::run(&args),
        Verb::Simulate(args) => simulate::run(&args),
        Verb::GoldenKube(args) => golden_kube::run(&args),
        Verb::Image(args) => image::run(&args),
        Verb::Programs(args) => programs::run(&args),
        Verb::Lines(args) => lines::run(&args),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
