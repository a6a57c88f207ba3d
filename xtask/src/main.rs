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
mod fuzz;
mod golden_kube;
mod image;
mod kube_programs;
mod metadata;
mod packages;
mod process;
mod program;
mod report;
mod rules;
mod simulate;
mod steps;
mod test;
mod tools;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  cargo xtask test                      everything CI checks
  cargo xtask test --only tests         only the tests
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
    /// Run every check that CI runs
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
    /// Build the Kubernetes programs that tests start
    KubePrograms(kube_programs::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().verb {
        Verb::Test(args) => test::run(&args),
        Verb::Bench(args) => bench::run(&args),
        Verb::Fuzz(args) => fuzz::run(&args),
        Verb::Simulate(args) => simulate::run(&args),
        Verb::GoldenKube(args) => golden_kube::run(&args),
        Verb::Image(args) => image::run(&args),
        Verb::KubePrograms(args) => kube_programs::run(&args),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
