//! What a run of the checks has to say at its end.

use std::time::Duration;

/// Tests counted from what test programs print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) ignored: u64,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Ok,
    Failed,
    /// An earlier failure left nothing to check.
    NotRun,
    /// The command line said so.
    LeftOut,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Failed => "FAILED",
            Verdict::NotRun => "not run",
            Verdict::LeftOut => "left out",
        }
    }
}

/// One line of the table at the end.
pub(crate) struct Row {
    pub(crate) step: &'static str,
    pub(crate) verdict: Verdict,
    pub(crate) took: Duration,
    /// Only for steps that run tests.
    pub(crate) tests: Option<Counts>,
    /// What the reader should know besides.
    pub(crate) note: String,
}

impl Row {
    fn remark(&self) -> String {
        let tests = self.tests.map(|Counts { passed, failed, ignored }| {
            format!("{passed} passed, {failed} failed, {ignored} ignored")
        });
        let note = (!self.note.is_empty()).then(|| self.note.clone());
        tests.into_iter().chain(note).collect::<Vec<_>>().join("; ")
    }
}

/// The table, without the last line.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = format!("{:<10}{:<10}{:>8}  remarks\n", "step", "result", "seconds");
    for row in rows {
        let seconds = match row.verdict {
            Verdict::Ok | Verdict::Failed => format!("{:.1}", row.took.as_secs_f64()),
            Verdict::NotRun | Verdict::LeftOut => "-".to_owned(),
        };
        let line =
            format!("{:<10}{:<10}{seconds:>8}  {}", row.step, row.verdict.word(), row.remark());
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
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

#[cfg(test)]
mod tests {
    use super::*;

    fn row(step: &'static str, verdict: Verdict) -> Row {
        Row { step, verdict, took: Duration::from_millis(1250), tests: None, note: String::new() }
    }

    fn counted(passed: u64, failed: u64, verdict: Verdict) -> Row {
        Row { tests: Some(Counts { passed, failed, ignored: 1 }), ..row("tests", verdict) }
    }

    #[test]
    fn a_failed_step_counts_as_at_least_one_failed_test() {
        let rows = [row("format", Verdict::Failed), counted(5, 0, Verdict::Ok)];
        assert_eq!(totals(&rows), (5, 1));
        assert_eq!(totals(&[counted(5, 3, Verdict::Failed)]), (5, 3));
        assert_eq!(totals(&[counted(0, 0, Verdict::Failed)]), (0, 1));
        assert_eq!(totals(&[row("docs", Verdict::NotRun), row("fuzz", Verdict::LeftOut)]), (0, 0));
    }

    #[test]
    fn the_table_shows_every_step_and_its_remarks() {
        let rows = [
            row("format", Verdict::Ok),
            counted(5, 0, Verdict::Ok),
            Row { note: "why".into(), ..row("fuzz", Verdict::LeftOut) },
        ];
        assert_eq!(
            table(&rows),
            "\
step      result     seconds  remarks
format    ok             1.2
tests     ok             1.2  5 passed, 0 failed, 1 ignored
fuzz      left out         -  why
"
        );
    }
}
