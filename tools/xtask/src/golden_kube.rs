//! `cargo xtask golden-kube`: recorded deployments against what we build.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::process::{cargo, succeeds};

const EXAMPLES: &str = "\
Examples:
  cargo xtask golden-kube fixtures/kubernetes/05-storage
  cargo xtask golden-kube fixtures/kubernetes/0* fixtures/kubernetes/flags-B/*

A folder holds lease.json, manifest.json, objects.yaml and crs.yaml as the Go
provider left them. Below folders named flags-B and gateway-api the flags are
those of fixtures/kubernetes/README.md. Every difference is printed; the exit
code is 1 if there is one.";

/// Build recorded deployments and print where they differ from the Go provider's
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Folders of recorded deployments
    #[arg(required = true)]
    folders: Vec<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let mut command = cargo();
    command.args(["run", "--quiet", "--locked", "--package", "provider-testkit"]);
    command.args(["--features", "kube", "--bin", "golden-kube", "--"]);
    command.args(&args.folders);
    Ok(if succeeds(&mut command)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
