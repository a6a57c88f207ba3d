//! All tests, counted.

use anyhow::Result;

use super::{Outcome, Workspace};
use crate::process::{announce, cargo, each_line};
use crate::report::Counts;
use crate::{kube_programs, packages};

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    packages::provide()?;
    // Here, and not while a test waits for them: they take longer than all tests.
    if let Err(error) = kube_programs::provide_all(workspace.full) {
        eprintln!("tests on Kubernetes will fail: {error:#}");
    }
    let mut test = cargo();
    test.args(["test", "--workspace", "--locked", "--no-fail-fast"]);
    if workspace.full {
        test.env("AKASH_TEST_FULL", "1");
    }
    announce(&test);
    let mut tally = Tally::default();
    let status = each_line(&mut test, |line| {
        println!("{line}");
        tally.read(line);
    })?;
    let mut outcome = Outcome::of(status.success());
    if !status.success() && tally.unfinished() > 0 {
        outcome.note = format!("programs that crashed: {}", tally.unfinished());
    }
    outcome.tests = Some(tally.counts(status.success()));
    Ok(outcome)
}

/// What the test programs said so far.
#[derive(Default)]
struct Tally {
    counts: Counts,
    begun: u64,
    finished: u64,
}

impl Tally {
    fn read(&mut self, line: &str) {
        if is_beginning(line) {
            self.begun += 1;
        } else if let Some(counts) = counts_in(line) {
            self.finished += 1;
            self.counts.passed += counts.passed;
            self.counts.failed += counts.failed;
            self.counts.ignored += counts.ignored;
        }
    }

    /// Programs that began and never came to a result: crashed, or exited.
    fn unfinished(&self) -> u64 {
        self.begun.saturating_sub(self.finished)
    }

    fn counts(&self, success: bool) -> Counts {
        let crashed = if success { 0 } else { self.unfinished() };
        Counts { failed: self.counts.failed + crashed, ..self.counts }
    }
}

/// `running 12 tests`
fn is_beginning(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("running ") else {
        return false;
    };
    let Some((count, word)) = rest.split_once(' ') else {
        return false;
    };
    count.parse::<u64>().is_ok() && matches!(word, "test" | "tests")
}

/// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`
fn counts_in(line: &str) -> Option<Counts> {
    let (_, list) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let of = |what: &str| {
        list.split("; ").find_map(|item| {
            let (count, word) = item.split_once(' ')?;
            (word == what).then(|| count.parse().ok())?
        })
    };
    Some(Counts { passed: of("passed")?, failed: of("failed")?, ignored: of("ignored")? })
}

#[cfg(test)]
mod unit {
    use super::*;

    const OK: &str = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s";
    const RED: &str = "test result: FAILED. 7 passed; 2 failed; 0 ignored; 0 measured; 4 filtered out; finished in 1.20s";

    fn tally(lines: &[&str]) -> Tally {
        let mut tally = Tally::default();
        for line in lines {
            tally.read(line);
        }
        tally
    }

    #[test]
    fn a_result_line_is_counted_whatever_the_result() {
        assert_eq!(counts_in(OK), Some(Counts { passed: 3, failed: 0, ignored: 1 }));
        assert_eq!(counts_in(RED), Some(Counts { passed: 7, failed: 2, ignored: 0 }));
    }

    #[test]
    fn other_lines_are_not_counted() {
        for line in [
            "",
            "test result: ok.",
            "test result: ok. many passed; 0 failed; 0 ignored",
            "test tests::test_result ... ok",
            " test result: ok. 3 passed; 0 failed; 1 ignored",
        ] {
            assert_eq!(counts_in(line), None, "{line}");
        }
        assert!(is_beginning("running 1 test"));
        assert!(is_beginning("running 0 tests"));
        assert!(!is_beginning("running late"));
        assert!(!is_beginning("running 3 laps"));
    }

    #[test]
    fn counts_add_up_over_programs() {
        let tally = tally(&["running 4 tests", OK, "running 9 tests", RED]);
        assert_eq!(tally.counts(false), Counts { passed: 10, failed: 2, ignored: 1 });
    }

    #[test]
    fn a_program_that_crashed_counts_as_a_failed_test() {
        let tally = tally(&["running 4 tests", "running 4 tests", OK]);
        assert_eq!(tally.counts(false), Counts { passed: 3, failed: 1, ignored: 1 });
    }

    #[test]
    fn a_passing_test_may_print_what_it_likes() {
        let tally = tally(&["running 4 tests", "running 2 tests", OK]);
        assert_eq!(tally.counts(true).failed, 0);
    }
}
