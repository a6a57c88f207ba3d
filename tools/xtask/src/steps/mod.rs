//! The steps of `cargo xtask test`, in the order they run: what is cheap and fails often comes first.

mod alone;
mod build;
mod clippy;
mod deny;
mod docs;
mod format;
mod fuzz;
mod programs;
mod rules;
mod simulate;
mod tests;

use std::time::Duration;

use anyhow::Result;
use clap::ValueEnum;

use crate::changed::Affected;
use crate::metadata::Member;
use crate::report::{Counts, Timed};

/// What every step is told.
pub(crate) struct Workspace {
    pub(crate) members: Vec<Member>,
    /// Whether the long versions are wanted.
    pub(crate) full: bool,
    /// The crates whose tests are wanted.
    pub(crate) affected: Affected,
}

/// How a step that could be carried out ended.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) ok: bool,
    /// Steps that would only repeat this failure need not run.
    pub(crate) does_not_compile: bool,
    pub(crate) tests: Option<Counts>,
    /// Tests that another step runs.
    pub(crate) left_out: u64,
    pub(crate) times: Vec<Timed>,
    /// A remark for the summary.
    pub(crate) note: String,
}

impl Outcome {
    /// Only a remark.
    pub(crate) fn noted(note: String) -> Self {
        Self { note, ..Self::default() }
    }

    fn of(ok: bool) -> Self {
        Self { ok, ..Self::default() }
    }
}

/// What a run of the checks is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tier {
    /// Needs the toolchain, crates, Debian packages and npm packages.
    Fast,
    /// Needs components and tools that are built once into the cache.
    Real,
    /// Only in the long version.
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Step {
    Format,
    Rules,
    Clippy,
    Docs,
    Build,
    Tests,
    Simulate,
    Programs,
    Real,
    Fuzz,
    Deny,
    Alone,
}

/// What is known of a step before it runs.
pub(crate) struct About {
    /// The name on the command line and in the summary.
    pub(crate) name: &'static str,
    pub(crate) tier: Tier,
    /// How long it may take on two quiet cores, with nothing compiled or downloaded before.
    budget: u64,
    pub(crate) checks: &'static str,
}

impl Step {
    pub(crate) const fn about(self) -> About {
        let (name, tier, budget, checks) = match self {
            Step::Format => ("format", Tier::Fast, 15, "everything is formatted as rustfmt would"),
            Step::Rules => (
                "rules",
                Tier::Fast,
                30,
                "no crate reaches what it may not know, no page claims too much",
            ),
            Step::Clippy => {
                ("clippy", Tier::Fast, 330, "no warnings from compiler and clippy, in any target")
            }
            Step::Docs => ("docs", Tier::Fast, 90, "the API documentation builds without warnings"),
            Step::Build => ("build", Tier::Fast, 510, "all test programs build"),
            Step::Tests => ("tests", Tier::Fast, 480, "unit, property, process and client tests"),
            Step::Simulate => (
                "simulate",
                Tier::Fast,
                270,
                "scenarios of a provider under every fault, and deliberate defects",
            ),
            Step::Programs => (
                "programs",
                Tier::Real,
                1200,
                "Kubernetes, Traefik and what else tests start is in the cache, or is built",
            ),
            Step::Real => ("real", Tier::Real, 780, "tests on real components"),
            Step::Fuzz => ("fuzz", Tier::Real, 600, "each fuzz target for a short while"),
            Step::Deny => {
                ("deny", Tier::Real, 300, "licences, banned crates and sources of all dependencies")
            }
            Step::Alone => (
                "alone",
                Tier::Full,
                700,
                "each crate compiles without features that another turned on",
            ),
        };
        About { name, tier, budget, checks }
    }

    pub(crate) fn budget(self) -> Duration {
        Duration::from_secs(self.about().budget)
    }

    pub(crate) fn needs_code_that_compiles(self) -> bool {
        match self {
            Step::Format | Step::Rules | Step::Clippy | Step::Programs | Step::Deny => false,
            Step::Docs
            | Step::Build
            | Step::Tests
            | Step::Simulate
            | Step::Real
            | Step::Fuzz
            | Step::Alone => true,
        }
    }

    pub(crate) fn run(self, workspace: &Workspace) -> Result<Outcome> {
        match self {
            Step::Format => format::run(),
            Step::Rules => rules::run(workspace),
            Step::Clippy => clippy::run(),
            Step::Docs => docs::run(),
            Step::Build => build::run(),
            Step::Tests => tests::run(workspace),
            Step::Simulate => simulate::run(workspace),
            Step::Programs => programs::run(),
            Step::Real => tests::run_real(workspace),
            Step::Fuzz => fuzz::run(workspace),
            Step::Deny => deny::run(),
            Step::Alone => alone::run(workspace),
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::process;

    #[test]
    fn a_step_is_called_the_same_everywhere() {
        for step in Step::value_variants() {
            let value = step.to_possible_value().unwrap();
            assert_eq!(value.get_name(), step.about().name);
        }
    }

    #[test]
    fn the_guide_has_every_step_with_its_budget() {
        let guide = process::root().join("CONTRIBUTING.md");
        let guide = std::fs::read_to_string(guide).unwrap();
        for step in Step::value_variants() {
            let About { name, budget, .. } = step.about();
            let row = guide.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
            let row = row.unwrap_or_else(|| panic!("CONTRIBUTING.md has no row for {name}"));
            assert!(row.contains(&format!(" {budget} |")), "{row} is not about {budget} s");
        }
    }
}
