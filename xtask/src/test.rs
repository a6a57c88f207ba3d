//! `cargo xtask test`: the one command that developers and CI run.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::ValueEnum;

use crate::metadata;
use crate::report::{self, Row, Verdict};
use crate::steps::{Outcome, Step, Workspace};

const EXAMPLES: &str = "\
Examples:
  cargo xtask test                              all of it
  cargo xtask test --list                       what the steps are
  cargo xtask test --only format --only clippy  two of them
  cargo xtask test --skip deny --skip fuzz      all but the slow ones
  cargo xtask test --full                       with long tests and long fuzzing

The last line is `N passed, M failed`; a failed step counts as one failed test.
cargo-deny, cargo-fuzz and the programs of Kubernetes are built on first use into
$AKASH_PROVIDER_CACHE, or akash-provider in the user's cache directory.";

/// Run every check that CI runs
///
/// All steps run even when one fails, except those that cannot tell anything
/// once the workspace does not compile.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Run the long versions: sets AKASH_TEST_FULL=1, fuzzes ten minutes a target
    #[arg(long)]
    full: bool,

    /// Run only this step; may be given several times
    #[arg(long, value_name = "STEP", conflicts_with = "skip")]
    only: Vec<Step>,

    /// Leave out this step; may be given several times
    #[arg(long, value_name = "STEP")]
    skip: Vec<Step>,

    /// Print the steps and stop
    #[arg(long)]
    list: bool,
}

impl Args {
    /// Why a step is not to be run.
    fn leaves_out(&self, step: Step) -> Option<&'static str> {
        if self.skip.contains(&step) {
            Some("by --skip")
        } else if !self.only.is_empty() && !self.only.contains(&step) {
            Some("by --only")
        } else {
            None
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.list {
        for step in Step::value_variants() {
            println!("{:<10}{}", step.name(), step.about());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let rows = match metadata::read("Cargo.toml") {
        Ok(metadata) => {
            let workspace = Workspace { members: metadata.members(), full: args.full };
            run_steps(&workspace, args)
        }
        Err(error) => {
            eprintln!("{error:#}");
            let note = "cargo cannot read the workspace".to_owned();
            vec![row("metadata", Verdict::Failed, Duration::ZERO, Outcome::noted(note))]
        }
    };

    let (passed, failed) = report::totals(&rows);
    println!("\n{}\n{passed} passed, {failed} failed", report::table(&rows));
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn run_steps(workspace: &Workspace, args: &Args) -> Vec<Row> {
    let mut does_not_compile = false;
    let mut rows = Vec::new();
    for &step in Step::value_variants() {
        let name = step.name();
        if let Some(why) = args.leaves_out(step) {
            rows.push(row(name, Verdict::LeftOut, Duration::ZERO, Outcome::noted(why.to_owned())));
            continue;
        }
        if does_not_compile && step.needs_code_that_compiles() {
            let why = Outcome::noted("the workspace does not compile".to_owned());
            rows.push(row(name, Verdict::NotRun, Duration::ZERO, why));
            continue;
        }
        println!("\n== {name}: {}", step.about());
        let begun = Instant::now();
        let (verdict, outcome) = match step.run(workspace) {
            Ok(outcome) if outcome.ok => (Verdict::Ok, outcome),
            Ok(outcome) => (Verdict::Failed, outcome),
            Err(error) => {
                eprintln!("error: {error:#}");
                (Verdict::Failed, Outcome::noted("could not be carried out".to_owned()))
            }
        };
        let took = begun.elapsed();
        println!("== {name}: {:.1} s", took.as_secs_f64());
        does_not_compile |= outcome.does_not_compile;
        rows.push(row(name, verdict, took, outcome));
    }
    rows
}

fn row(step: &'static str, verdict: Verdict, took: Duration, outcome: Outcome) -> Row {
    Row { step, verdict, took, tests: outcome.tests, note: outcome.note }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(only: &[Step], skip: &[Step]) -> Args {
        Args { full: false, only: only.to_vec(), skip: skip.to_vec(), list: false }
    }

    #[test]
    fn everything_runs_unless_told_otherwise() {
        let plain = args(&[], &[]);
        assert!(Step::value_variants().iter().all(|&step| plain.leaves_out(step).is_none()));
    }

    #[test]
    fn only_and_skip_leave_out_what_they_say() {
        let only = args(&[Step::Tests], &[]);
        assert_eq!(only.leaves_out(Step::Tests), None);
        assert_eq!(only.leaves_out(Step::Fuzz), Some("by --only"));
        let skip = args(&[], &[Step::Fuzz]);
        assert_eq!(skip.leaves_out(Step::Tests), None);
        assert_eq!(skip.leaves_out(Step::Fuzz), Some("by --skip"));
    }
}
