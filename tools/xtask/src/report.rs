//! What a run of the checks has to say at its end.

use std::time::Duration;

/// Tests counted from what test programs print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) ignored: u64,
    /// Tests that said that they could not run here.
    pub(crate) skipped: u64,
}

/// How long a test took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Timed {
    /// Package, test program and test.
    pub(crate) name: String,
    pub(crate) took: Duration,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Ok,
    Failed,
    /// An earlier failure left nothing to check.
    NotRun,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Failed => "FAILED",
            Verdict::NotRun => "not run",
        }
    }
}

/// One line of the table at the end.
pub(crate) struct Row {
    pub(crate) step: &'static str,
    pub(crate) verdict: Verdict,
    pub(crate) took: Duration,
    /// How long the step may take on two quiet cores with nothing built before; `None` for long
    /// versions.
    pub(crate) budget: Option<Duration>,
    /// Only for steps that run tests.
    pub(crate) tests: Option<Counts>,
    /// What the reader should know besides.
    pub(crate) note: String,
}

impl Row {
    fn remark(&self) -> String {
        let tests = self.tests.map(|Counts { passed, failed, ignored, skipped }| {
            format!("{passed} passed, {failed} failed, {ignored} ignored, {skipped} skipped")
        });
        let note = (!self.note.is_empty()).then(|| self.note.clone());
        tests.into_iter().chain(note).collect::<Vec<_>>().join("; ")
    }

    fn is_over_budget(&self) -> bool {
        self.budget.is_some_and(|budget| self.took > budget)
    }
}

/// How long each step took and how it ended, and the whole with its `budget`.
pub(crate) fn table(rows: &[Row], budget: Option<Duration>) -> String {
    let mut text =
        format!("{:<10}{:<9}{:>8}{:>8}  remarks\n", "step", "result", "seconds", "budget");
    for row in rows {
        let seconds = match row.verdict {
            Verdict::Ok | Verdict::Failed => format!("{:.1}", row.took.as_secs_f64()),
            Verdict::NotRun => "-".to_owned(),
        };
        let budget = seconds_or_dash(row.budget);
        let (step, word, remark) = (row.step, row.verdict.word(), row.remark());
        let line = format!("{step:<10}{word:<9}{seconds:>8}{budget:>8}  {remark}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let (all, budget) = (together(rows).as_secs_f64(), seconds_or_dash(budget));
    text.push_str(&format!("{:<19}{all:>8.1}{budget:>8}\n", "together"));
    text
}

fn seconds_or_dash(budget: Option<Duration>) -> String {
    budget.map_or("-".to_owned(), |budget| budget.as_secs().to_string())
}

fn together(rows: &[Row]) -> Duration {
    rows.iter().map(|row| row.took).sum()
}

/// Names the steps that took longer than they may, and the whole if it did.
pub(crate) fn over_budget(rows: &[Row], budget: Option<Duration>) -> Option<String> {
    let mut over: Vec<_> =
        rows.iter().filter(|row| row.is_over_budget()).map(|row| row.step).collect();
    if budget.is_some_and(|budget| together(rows) > budget) {
        over.push("all steps together");
    }
    (!over.is_empty()).then(|| format!("over budget: {}", over.join(", ")))
}

/// The tests that took longest.
pub(crate) fn slowest(mut times: Vec<Timed>) -> String {
    times.sort_by_key(|test| std::cmp::Reverse(test.took));
    times.truncate(10);
    let line = |test: &Timed| format!("{:>8.1}  {}\n", test.took.as_secs_f64(), test.name);
    times.iter().map(line).collect()
}

/// Tests passed and failed. A step that failed counts as one failed test, or as
/// many as it counted itself.
pub(crate) fn totals(rows: &[Row]) -> (u64, u64) {
    rows.iter().fold((0, 0), |(passed, failed), row| {
        let tests = row.tests.unwrap_or_default();
        let least = u64::from(row.verdict == Verdict::Failed);
        (passed + tests.passed, failed + tests.failed.max(least))
    })
}

/// The last line but one: `N passed, M failed`, and how many tests were skipped if any were.
pub(crate) fn summary(rows: &[Row]) -> String {
    let (passed, failed) = totals(rows);
    let skipped: u64 = rows.iter().filter_map(|row| row.tests).map(|tests| tests.skipped).sum();
    match skipped {
        0 => format!("{passed} passed, {failed} failed"),
        _ => format!("{passed} passed, {failed} failed, {skipped} skipped"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(step: &'static str, verdict: Verdict) -> Row {
        Row {
            step,
            verdict,
            took: Duration::from_millis(1250),
            budget: Some(Duration::from_secs(20)),
            tests: None,
            note: String::new(),
        }
    }

    fn counted(passed: u64, failed: u64, verdict: Verdict) -> Row {
        Row {
            tests: Some(Counts { passed, failed, ignored: 1, skipped: 0 }),
            ..row("tests", verdict)
        }
    }

    #[test]
    fn a_failed_step_counts_as_at_least_one_failed_test() {
        let rows = [row("format", Verdict::Failed), counted(5, 0, Verdict::Ok)];
        assert_eq!(totals(&rows), (5, 1));
        assert_eq!(totals(&[counted(5, 3, Verdict::Failed)]), (5, 3));
        assert_eq!(totals(&[counted(0, 0, Verdict::Failed)]), (0, 1));
        assert_eq!(totals(&[row("docs", Verdict::NotRun)]), (0, 0));
    }

    #[test]
    fn skipped_tests_are_counted_apart() {
        let rows = [counted(5, 0, Verdict::Ok)];
        assert_eq!(summary(&rows), "5 passed, 0 failed");
        let tests = Some(Counts { passed: 5, failed: 0, ignored: 0, skipped: 2 });
        let rows = [Row { tests, ..row("real", Verdict::Ok) }];
        assert_eq!(summary(&rows), "5 passed, 0 failed, 2 skipped");
    }

    #[test]
    fn the_table_shows_every_step_its_time_and_its_remarks() {
        let rows = [
            row("format", Verdict::Ok),
            counted(5, 0, Verdict::Ok),
            Row { note: "why".into(), took: Duration::ZERO, ..row("docs", Verdict::NotRun) },
        ];
        assert_eq!(
            table(&rows, Some(Duration::from_secs(60))),
            "\
step      result    seconds  budget  remarks
format    ok            1.2      20
tests     ok            1.2      20  5 passed, 0 failed, 1 ignored, 0 skipped
docs      not run         -      20  why
together                2.5      60
"
        );
    }

    #[test]
    fn a_step_over_its_budget_is_named() {
        let slow = Row { took: Duration::from_secs(21), ..row("clippy", Verdict::Ok) };
        let budget = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(
            over_budget(&[row("format", Verdict::Ok), slow], budget(22)).unwrap(),
            "over budget: clippy, all steps together"
        );
        assert_eq!(over_budget(&[row("format", Verdict::Ok)], budget(22)), None);
    }

    #[test]
    fn the_ten_slowest_tests_are_shown_slowest_first() {
        let timed =
            |seconds| Timed { name: format!("t{seconds}"), took: Duration::from_secs(seconds) };
        let shown = slowest((0..12).map(timed).collect());
        assert_eq!(shown.lines().count(), 10);
        assert!(shown.starts_with("    11.0  t11\n    10.0  t10\n"));
    }
}
