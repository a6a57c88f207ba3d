//! The steps of `cargo xtask test`, in the order they run.

mod alone;
mod clippy;
mod deny;
mod docs;
mod format;
mod fuzz;
mod rules;
mod simulate;
mod tests;

use anyhow::Result;
use clap::ValueEnum;

use crate::report::Counts;

/// What every step is told.
pub(crate) struct Workspace {
    /// The names of its crates.
    pub(crate) members: Vec<String>,
    /// Whether the long versions are wanted.
    pub(crate) full: bool,
}

/// How a step that could be carried out ended.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) ok: bool,
    /// Steps that would only repeat this failure need not run.
    pub(crate) does_not_compile: bool,
    pub(crate) tests: Option<Counts>,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Step {
    Format,
    Clippy,
    Alone,
    Docs,
    Rules,
    Tests,
    Simulate,
    Deny,
    Fuzz,
}

impl Step {
    /// The name on the command line and in the summary.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Step::Format => "format",
            Step::Clippy => "clippy",
            Step::Alone => "alone",
            Step::Docs => "docs",
            Step::Rules => "rules",
            Step::Tests => "tests",
            Step::Simulate => "simulate",
            Step::Deny => "deny",
            Step::Fuzz => "fuzz",
        }
    }

    pub(crate) fn about(self) -> &'static str {
        match self {
            Step::Format => "is everything formatted as rustfmt would",
            Step::Clippy => "no warnings from compiler and clippy, in any target",
            Step::Alone => "each crate compiles without features that another turned on",
            Step::Docs => "the API documentation builds without warnings",
            Step::Rules => "no crate reaches what it may not know",
            Step::Tests => "unit tests, integration tests and doc tests",
            Step::Simulate => "scenarios of a provider under every fault, and deliberate defects",
            Step::Deny => "licences, banned crates and sources of all dependencies",
            Step::Fuzz => "each fuzz target for a short while",
        }
    }

    pub(crate) fn needs_code_that_compiles(self) -> bool {
        matches!(self, Step::Alone | Step::Docs | Step::Tests | Step::Simulate | Step::Fuzz)
    }

    pub(crate) fn run(self, workspace: &Workspace) -> Result<Outcome> {
        match self {
            Step::Format => format::run(),
            Step::Clippy => clippy::run(),
            Step::Alone => alone::run(workspace),
            Step::Docs => docs::run(),
            Step::Rules => rules::run(workspace),
            Step::Tests => tests::run(workspace),
            Step::Simulate => simulate::run(workspace),
            Step::Deny => deny::run(),
            Step::Fuzz => fuzz::run(workspace),
        }
    }
}

#[cfg(test)]
mod names {
    use super::*;

    #[test]
    fn a_step_is_called_the_same_everywhere() {
        for step in Step::value_variants() {
            let value = step.to_possible_value().unwrap();
            assert_eq!(value.get_name(), step.name());
        }
    }
}
