//! What a test program says in `--format json`.

use serde::Deserialize;

use crate::report::Counts;

/// One line of a test program.
#[derive(Debug, PartialEq)]
pub(crate) enum Event {
    Started(String),
    Ended(Test),
    /// All tests of the program are done.
    Finished {
        counts: Counts,
        filtered_out: u64,
    },
}

/// A test that has run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Test {
    pub(crate) name: String,
    pub(crate) passed: bool,
    pub(crate) seconds: f64,
    pub(crate) output: String,
}

/// What a test prints that cannot run here, before the reason.
const SKIPPED: &str = "skipped: ";

impl Test {
    /// Why the test did not run, if it says so.
    pub(crate) fn skipped(&self) -> Option<&str> {
        let mut lines = self.output.lines().filter(|_| self.passed);
        lines.find_map(|line| line.strip_prefix(SKIPPED))
    }
}

/// The event that a line tells; `None` for what tests and their children print themselves.
pub(crate) fn event_in(line: &str) -> Option<Event> {
    let line: Line = serde_json::from_str(line).ok()?;
    match (line.kind.as_str(), line.event.as_str()) {
        ("test", "started") => Some(Event::Started(line.name?)),
        ("test", outcome @ ("ok" | "failed" | "ignored")) => Some(Event::Ended(Test {
            name: line.name?,
            passed: outcome != "failed",
            seconds: line.exec_time.unwrap_or_default(),
            output: line.stdout.unwrap_or_default(),
        })),
        ("suite", "ok" | "failed") => {
            let counts = Counts {
                passed: line.passed?,
                failed: line.failed?,
                ignored: line.ignored?,
                skipped: 0,
            };
            Some(Event::Finished { counts, filtered_out: line.filtered_out? })
        }
        _ => None,
    }
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    event: String,
    name: Option<String>,
    exec_time: Option<f64>,
    stdout: Option<String>,
    passed: Option<u64>,
    failed: Option<u64>,
    ignored: Option<u64>,
    filtered_out: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_followed_from_start_to_end() {
        let started = r#"{ "type": "test", "event": "started", "name": "a::b" }"#;
        assert_eq!(event_in(started), Some(Event::Started("a::b".to_owned())));
        let ended = r#"{ "type": "test", "name": "a::b", "event": "failed", "exec_time": 0.25, "stdout": "said\n" }"#;
        let test = Test {
            name: "a::b".to_owned(),
            passed: false,
            seconds: 0.25,
            output: "said\n".to_owned(),
        };
        assert_eq!(event_in(ended), Some(Event::Ended(test)));
    }

    #[test]
    fn a_program_counts_its_tests() {
        let line = r#"{ "type": "suite", "event": "failed", "passed": 7, "failed": 2, "ignored": 1, "measured": 0, "filtered_out": 4, "exec_time": 1.2 }"#;
        let counts = Counts { passed: 7, failed: 2, ignored: 1, skipped: 0 };
        assert_eq!(event_in(line), Some(Event::Finished { counts, filtered_out: 4 }));
    }

    #[test]
    fn other_lines_are_no_events() {
        for line in [
            "",
            "running 3 tests",
            r#"{ "type": "suite", "event": "started", "test_count": 3 }"#,
            r#"{ "type": "test", "event": "timeout", "name": "a::b" }"#,
            r#"{ "type": "suite", "event": "ok" }"#,
        ] {
            assert_eq!(event_in(line), None, "{line}");
        }
    }
}
