//! `cargo xtask simulate`: seeds of the deterministic simulation.

use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::process::{cargo, succeeds};

const EXAMPLES: &str = "\
Examples:
  cargo xtask simulate --seeds 2000       two thousand scenarios
  cargo xtask simulate --seed 17 --trace  one of them, step by step
  cargo xtask simulate --defects          every deliberate defect must be found

A violation is printed with its seed. With 200 seeds or more, a stage of an
order or lease that some kind of fault never met is a failure too.";

/// Play seeds of the deterministic simulation
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How many seeds
    #[arg(long, default_value_t = 200)]
    seeds: u64,

    /// The first seed
    #[arg(long, default_value_t = 0)]
    from: u64,

    /// Only this seed
    #[arg(long, conflicts_with_all = ["seeds", "from"])]
    seed: Option<u64>,

    /// Print every step of that seed
    #[arg(long, requires = "seed")]
    trace: bool,

    /// See whether deliberate defects of the engine are found
    #[arg(long, conflicts_with_all = ["seed", "seeds", "from"])]
    defects: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let mut command = simulation();
    match args.seed {
        Some(seed) => {
            command.args(["--seed", &seed.to_string()]);
            command.args(args.trace.then_some("--trace"));
        }
        None if args.defects => {
            command.arg("--defects");
        }
        None => {
            command.args(["--seeds", &args.seeds.to_string(), "--from", &args.from.to_string()]);
        }
    }
    Ok(if succeeds(&mut command)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The program, up to its arguments.
fn simulation() -> Command {
    let mut command = cargo();
    command.args(["run", "--quiet", "--locked", "--package", "provider-testkit"]);
    command.args(["--bin", "simulate", "--"]);
    command
}
