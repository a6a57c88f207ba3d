//! `cargo xtask test`: the command that developers and CI run.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::ValueEnum;

use crate::changed::{self, Affected};
use crate::metadata::{self, Member};
use crate::report::{self, Row, Timed, Verdict};
use crate::steps::{Outcome, Step, Tier, Workspace};

const EXAMPLES: &str = "\
Examples:
  cargo xtask test                              all that needs no big builds
  cargo xtask test --only changed               quick checks, and tests of crates with changes
  cargo xtask test --real                       what needs Kubernetes and tools built from source
  cargo xtask test --full                       both, with long tests, long fuzzing and more seeds
  cargo xtask test --list                       what the steps are
  cargo xtask test --only format --only clippy  two of them
  cargo xtask test --skip simulate              all but one

The summary counts tests as `N passed, M failed`; a failed step counts as one failed test.
Tests that cannot run here, for want of root for one, are counted as skipped and named; in CI they
are failed.
Its last line says what was left out.
What is built from source goes to $AKASH_PROVIDER_CACHE, or akash-provider in the user's cache
directory.";

const FAST_BUDGET: Duration = Duration::from_secs(1500);
const REAL_BUDGET: Duration = Duration::from_secs(2700);

/// Check the workspace
///
/// All steps run even when one fails, except those that cannot tell anything
/// once the workspace does not compile. CI runs `test`, then `test --real`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Run the steps that need components and tools built from source, instead of all others
    #[arg(long)]
    real: bool,

    /// Run all steps (with --real only those) in their long versions: sets AKASH_TEST_FULL=1,
    /// fuzzes ten minutes a target, plays 2,000 seeds
    #[arg(long)]
    full: bool,

    /// Run only this step; may be given several times.
    /// `changed` stands for the quick checks and the tests of crates that uncommitted changes
    /// affect (without any: those of the last commit)
    #[arg(long, value_name = "STEP", conflicts_with = "skip")]
    only: Vec<Wanted>,

    /// Leave out this step; may be given several times
    #[arg(long, value_name = "STEP")]
    skip: Vec<Step>,

    /// Print the steps and stop
    #[arg(long)]
    list: bool,
}

/// What `--only` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Step(Step),
    Changed,
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "changed" => Ok(Wanted::Changed),
            _ => Step::from_str(word, false).map(Wanted::Step).map_err(|_| {
                let names: Vec<_> =
                    Step::value_variants().iter().map(|step| step.about().name).collect();
                format!("there is `changed`, and the steps {}", names.join(", "))
            }),
        }
    }
}

impl Args {
    fn runs(&self, step: Step) -> bool {
        if self.only.contains(&Wanted::Step(step)) {
            return true;
        }
        let changed = self.only.contains(&Wanted::Changed);
        if !self.only.is_empty() && !changed {
            return false;
        }
        let takes_long = matches!(step, Step::Docs | Step::Simulate | Step::Fuzz | Step::Deny);
        if self.skip.contains(&step) || (changed && takes_long) {
            return false;
        }
        match step.about().tier {
            Tier::Fast => !self.real,
            Tier::Real => self.real || self.full,
            Tier::Full => self.full,
        }
    }

    /// How long all steps of a tier may take together on two quiet cores, with nothing compiled or
    /// downloaded before. `None` for a part of a tier and for long versions.
    fn budget(&self) -> Option<Duration> {
        let whole_tier = !self.full && self.only.is_empty() && self.skip.is_empty();
        whole_tier.then_some(if self.real { REAL_BUDGET } else { FAST_BUDGET })
    }

    fn affected(&self, members: &[Member]) -> Result<Affected> {
        if self.only.contains(&Wanted::Changed) {
            changed::since_last_commit(members)
        } else {
            Ok(Affected::Everything)
        }
    }

    /// What this run is silent about, and how to hear of it. `tests` is how many tests on real
    /// components were passed over.
    fn left_out(&self, tests: u64) -> String {
        let names = |tier: Tier| -> BTreeSet<&str> {
            let steps = Step::value_variants().iter().copied();
            let missing = steps.filter(|step| step.about().tier == tier && !self.runs(*step));
            missing.map(|step| step.about().name).collect()
        };
        let mut parts = Vec::new();
        let mut add = |names: BTreeSet<&str>, how: &str, extra: String| {
            if !names.is_empty() {
                let names = names.into_iter().collect::<Vec<_>>().join(", ");
                parts.push(format!("{names}{extra} ({how})"));
            }
        };
        let extra = if tests > 0 && !self.runs(Step::Real) {
            format!(" with {tests} tests")
        } else {
            String::new()
        };
        add(names(Tier::Fast), "cargo xtask test", String::new());
        add(names(Tier::Real), "cargo xtask test --real", extra);
        add(names(Tier::Full), "cargo xtask test --full", String::new());
        if self.only.contains(&Wanted::Changed) {
            parts.push("tests of crates that the change does not affect".to_owned());
        }
        if !self.full {
            parts.push("long versions (--full)".to_owned());
        }
        if parts.is_empty() {
            "left out: nothing".to_owned()
        } else {
            format!("left out: {}", parts.join("; "))
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.list {
        for step in Step::value_variants() {
            let about = step.about();
            let tier = match about.tier {
                Tier::Fast => "",
                Tier::Real => "--real",
                Tier::Full => "--full",
            };
            println!("{:<10}{tier:<8}{}", about.name, about.checks);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut ran = Ran::default();
    match metadata::read("Cargo.toml") {
        Ok(metadata) => {
            let members = metadata.members();
            let affected = args.affected(&members)?;
            ran.steps(&Workspace { members, full: args.full, affected }, args);
        }
        Err(error) => {
            eprintln!("{error:#}");
            let note = "cargo cannot read the workspace".to_owned();
            ran.add("metadata", Verdict::Failed, Duration::ZERO, None, Outcome::noted(note));
        }
    }

    let (_, failed) = report::totals(&ran.rows);
    let budget = args.budget();
    println!("\n{}", report::table(&ran.rows, budget));
    if !ran.times.is_empty() {
        println!("slowest tests, in seconds\n{}", report::slowest(ran.times));
    }
    if let Some(over) = report::over_budget(&ran.rows, budget) {
        println!("{over}");
    }
    println!("{}\n{}", report::summary(&ran.rows), args.left_out(ran.left_out));
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What the steps so far gave.
#[derive(Default)]
struct Ran {
    rows: Vec<Row>,
    times: Vec<Timed>,
    left_out: u64,
}

impl Ran {
    fn steps(&mut self, workspace: &Workspace, args: &Args) {
        let mut does_not_compile = false;
        for &step in Step::value_variants().iter().filter(|step| args.runs(**step)) {
            let about = step.about();
            let budget = (!args.full).then(|| step.budget());
            if does_not_compile && step.needs_code_that_compiles() {
                let why = Outcome::noted("the workspace does not compile".to_owned());
                self.add(about.name, Verdict::NotRun, Duration::ZERO, budget, why);
                continue;
            }
            println!("\n== {}: {}", about.name, about.checks);
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
            println!("== {}: {:.1} s", about.name, took.as_secs_f64());
            does_not_compile |= outcome.does_not_compile;
            self.add(about.name, verdict, took, budget, outcome);
        }
    }

    fn add(
        &mut self,
        step: &'static str,
        verdict: Verdict,
        took: Duration,
        budget: Option<Duration>,
        outcome: Outcome,
    ) {
        let Outcome { tests, note, times, left_out, .. } = outcome;
        self.rows.push(Row { step, verdict, took, budget, tests, note });
        self.times.extend(times);
        self.left_out += left_out;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process;

    fn args(real: bool, full: bool, only: &[Wanted], skip: &[Step]) -> Args {
        Args { real, full, only: only.to_vec(), skip: skip.to_vec(), list: false }
    }

    fn runs(args: &Args) -> Vec<&'static str> {
        let steps = Step::value_variants().iter().copied();
        steps.filter(|&step| args.runs(step)).map(|step| step.about().name).collect()
    }

    #[test]
    fn the_tiers_have_every_step_between_them() {
        let fast = runs(&args(false, false, &[], &[]));
        let real = runs(&args(true, false, &[], &[]));
        assert_eq!(fast, ["format", "rules", "clippy", "docs", "build", "tests", "simulate"]);
        assert_eq!(real, ["programs", "real", "fuzz", "deny"]);
        let full = runs(&args(false, true, &[], &[]));
        assert_eq!(full, [fast, real, vec!["alone"]].concat());
    }

    #[test]
    fn only_and_skip_leave_out_what_they_say() {
        let only = [Wanted::Step(Step::Fuzz), Wanted::Step(Step::Format)];
        assert_eq!(runs(&args(false, false, &only, &[])), ["format", "fuzz"]);
        let skipped = runs(&args(true, false, &[], &[Step::Fuzz]));
        assert_eq!(skipped, ["programs", "real", "deny"]);
        let changed = runs(&args(false, false, &[Wanted::Changed], &[]));
        assert_eq!(changed, ["format", "rules", "clippy", "build", "tests"]);
    }

    #[test]
    fn the_last_line_says_what_was_left_out() {
        assert_eq!(
            args(false, false, &[], &[]).left_out(31),
            "left out: deny, fuzz, programs, real with 31 tests (cargo xtask test --real); \
             alone (cargo xtask test --full); long versions (--full)"
        );
        assert_eq!(args(false, true, &[], &[]).left_out(0), "left out: nothing");
        let changed = args(false, false, &[Wanted::Changed], &[]).left_out(0);
        assert!(changed.contains("tests of crates that the change does not affect"), "{changed}");
    }

    #[test]
    fn the_guide_has_the_budget_of_each_tier() {
        let guide = std::fs::read_to_string(process::root().join("CONTRIBUTING.md")).unwrap();
        for (command, real) in [("cargo xtask test", false), ("cargo xtask test --real", true)] {
            let budget = args(real, false, &[], &[]).budget().unwrap().as_secs();
            let row = guide.lines().find(|line| line.starts_with(&format!("| **`{command}`**")));
            assert!(row.unwrap().contains(&format!("| {budget}")), "{row:?}");
        }
        assert_eq!(args(false, false, &[Wanted::Step(Step::Docs)], &[]).budget(), None);
    }

    #[test]
    fn a_word_for_only_is_a_step_or_changed() {
        assert_eq!("changed".parse(), Ok(Wanted::Changed));
        assert_eq!("fuzz".parse(), Ok(Wanted::Step(Step::Fuzz)));
        assert!("fuz".parse::<Wanted>().unwrap_err().contains("format, rules, clippy"));
    }
}
