//! Runs test programs, several at a time, and counts and times their tests.
//!
//! The programs are libtest's; `RUSTC_BOOTSTRAP` lets those of the stable toolchain tell times.
//! Tests wait more than they compute, so a program begins while another still waits for its last
//! tests.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::compile::TestProgram;
use crate::libtest::{Event, Test, event_in};
use crate::report::{Counts, Timed};
use crate::{parallel, process};

/// A program that says nothing for so long hangs. Long tests (`--full`) take up to half an hour.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
const PATIENCE_FULL: Duration = Duration::from_secs(60 * 60);

/// The module that tests on real components are in, at the root of their program.
const REAL: &str = "real::";

/// Which tests to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Tests on components that take long to build, or all others.
    pub(crate) real: bool,
    pub(crate) full: bool,
}

/// Whether this is CI, where a test that is skipped counts as failed.
fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty())
}

/// What came of all programs.
#[derive(Default)]
pub(crate) struct Ran {
    pub(crate) counts: Counts,
    /// Tests of the other kind.
    pub(crate) left_out: u64,
    /// Programs that ended without a result.
    pub(crate) crashed: Vec<String>,
    pub(crate) times: Vec<Timed>,
}

impl Ran {
    pub(crate) fn ok(&self) -> bool {
        self.counts.failed == 0 && self.crashed.is_empty()
    }

    fn add(&mut self, program: &TestProgram, result: ProgramResult) {
        let name = format!("{} {}", program.package, program.target);
        match result.counted() {
            Some(counts) => {
                self.counts.passed += counts.passed;
                self.counts.failed += counts.failed;
                self.counts.ignored += counts.ignored;
                self.counts.skipped += counts.skipped;
            }
            None => {
                self.counts.failed += 1;
                self.crashed.push(name.clone());
            }
        }
        self.left_out += result.left_out;
        self.times.extend(result.tests.into_iter().map(|test| Timed {
            name: format!("{name} {}", test.name),
            took: Duration::from_secs_f64(test.seconds),
        }));
    }
}

/// What came of one program.
#[derive(Default)]
struct ProgramResult {
    /// `None` if it ended before it counted.
    counts: Option<Counts>,
    left_out: u64,
    tests: Vec<Test>,
    running: BTreeSet<String>,
    /// What it printed that is no event, and why it was ended.
    output: String,
    /// Whether a test that is skipped counts as failed.
    must_not_skip: bool,
}

impl ProgramResult {
    fn read(&mut self, line: &str) {
        match event_in(line) {
            Some(Event::Started(name)) => {
                self.running.insert(name);
            }
            Some(Event::Ended(test)) => {
                self.running.remove(&test.name);
                self.tests.push(test);
            }
            Some(Event::Finished { counts, filtered_out }) => {
                self.counts = Some(counts);
                self.left_out = filtered_out;
            }
            None => {
                self.output.push_str(line);
                self.output.push('\n');
            }
        }
    }

    fn failed(&self) -> bool {
        self.counted().is_none_or(|counts| counts.failed > 0)
    }

    /// The program's own counts, with tests that are skipped apart: libtest counts them as passed.
    fn counted(&self) -> Option<Counts> {
        let counts = self.counts?;
        let skipped = self.tests.iter().filter(|test| test.skipped().is_some()).count() as u64;
        let passed = counts.passed.saturating_sub(skipped);
        Some(match self.must_not_skip {
            true => Counts { passed, failed: counts.failed + skipped, ..counts },
            false => Counts { passed, skipped, ..counts },
        })
    }
}

/// Runs the programs, those with the longest tests first.
pub(crate) fn run(mut programs: Vec<TestProgram>, selection: Selection) -> Result<Ran> {
    programs.sort_by_key(TestProgram::rank);
    let results = parallel::each(programs, |program| -> Result<_> {
        let begun = Instant::now();
        let result = run_program(&program, selection)?;
        // One call, so that what programs say is not mixed.
        print!("{}", told(&program, &result, begun.elapsed()));
        Ok((program, result))
    });
    let mut ran = Ran::default();
    for result in results {
        let (program, result) = result?;
        ran.add(&program, result);
    }
    Ok(ran)
}

fn run_program(program: &TestProgram, selection: Selection) -> Result<ProgramResult> {
    let patience = if selection.full { PATIENCE_FULL } else { PATIENCE };
    follow(&mut command(program, selection), patience)
        .with_context(|| format!("run {}", program.path.display()))
}

/// Runs a test program until it has counted its tests or fallen silent.
fn follow(command: &mut Command, patience: Duration) -> Result<ProgramResult> {
    let mut errors = tempfile::tempfile().context("make a file for the output of tests")?;
    let mut child = command.stdout(Stdio::piped()).stderr(errors.try_clone()?).spawn()?;
    let mut result = ProgramResult { must_not_skip: is_ci(), ..ProgramResult::default() };
    let lines = lines_of(&mut child);
    // Not until the output ends: a child that a test left behind would keep it open.
    while result.counts.is_none() {
        match lines.recv_timeout(patience) {
            Ok(line) => result.read(&line),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let _ = child.kill();
                result.output +=
                    &format!("killed: nothing happened for {} s\n", patience.as_secs());
                break;
            }
        }
    }
    child.wait()?;
    if result.failed() {
        result.output += &text_of(&mut errors)?;
    }
    Ok(result)
}

fn command(program: &TestProgram, selection: Selection) -> Command {
    let mut command = process::program(&program.path);
    command
        .current_dir(&program.directory)
        .env("CARGO_MANIFEST_DIR", &program.directory)
        .env("RUSTC_BOOTSTRAP", "1")
        // What passing tests print says whether they were skipped.
        .args(["-Zunstable-options", "--format=json", "--report-time", "--show-output"])
        .stdin(Stdio::null());
    if selection.full {
        command.env("AKASH_TEST_FULL", "1");
    }
    if selection.real {
        command.arg(REAL)
    } else {
        command.args(["--skip", REAL])
    };
    command
}

/// The lines of its output as they come; ends once the program and its children have closed it.
fn lines_of(child: &mut Child) -> Receiver<String> {
    let (send, lines) = channel();
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).split(b'\n').map_while(std::io::Result::ok) {
                if send.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
            }
        });
    }
    lines
}

fn text_of(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// How a program fared; of tests that failed, what they said.
fn told(program: &TestProgram, result: &ProgramResult, took: Duration) -> String {
    let TestProgram { package, target, .. } = program;
    let name = format!("{package} {target}");
    let counts = result.counted().unwrap_or_default();
    if counts == Counts::default() && result.counts.is_some() {
        return String::new();
    }
    let mut text = String::new();
    for test in result.tests.iter().filter(|test| !test.passed) {
        text += &format!("---- {name} {} FAILED\n{}\n", test.name, test.output);
    }
    for (test, why) in result.tests.iter().filter_map(|test| Some((test, test.skipped()?))) {
        let word = if result.must_not_skip { "FAILED, because it was skipped" } else { "skipped" };
        text += &format!("---- {name} {} {word}: {why}\n", test.name);
    }
    if result.failed() && !result.output.is_empty() {
        text += &format!("---- {name} and its children printed\n{}\n", result.output);
    }
    if result.counts.is_none() {
        let running = result.running.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        text += &format!("---- {name} ended without a result while it ran: {running}\n");
    }
    let verdict = if result.failed() { "FAILED" } else { "ok" };
    let (tests, seconds) = (counts.passed + counts.failed, took.as_secs_f64());
    text + &format!("{verdict:<7}{tests:>5} tests {seconds:>7.1} s  {name}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> TestProgram {
        TestProgram {
            package: "a".to_owned(),
            target: "it".to_owned(),
            path: "/bin/true".into(),
            directory: "/".into(),
        }
    }

    fn result(lines: &[&str]) -> ProgramResult {
        let mut result = ProgramResult::default();
        for line in lines {
            result.read(line);
        }
        result
    }

    const STARTED: &str = r#"{"type":"test","event":"started","name":"b"}"#;
    const ENDED: &str = r#"{"type":"test","event":"ok","name":"b","exec_time":2.5}"#;
    const FINISHED: &str =
        r#"{"type":"suite","event":"ok","passed":1,"failed":0,"ignored":0,"filtered_out":4}"#;

    #[test]
    fn a_program_is_counted_and_its_tests_are_timed() {
        let mut ran = Ran::default();
        ran.add(&program(), result(&[STARTED, "said", ENDED, FINISHED]));
        assert!(ran.ok());
        assert_eq!(ran.counts, Counts { passed: 1, ..Counts::default() });
        assert_eq!(ran.left_out, 4);
        let test = Timed { name: "a it b".to_owned(), took: Duration::from_millis(2500) };
        assert_eq!(ran.times, [test]);
    }

    #[test]
    fn a_program_without_a_result_failed_and_names_what_it_ran() {
        let crashed = result(&[STARTED, "thread main has overflowed its stack"]);
        assert!(crashed.failed());
        assert!(crashed.running.contains("b"));
        assert!(crashed.output.contains("overflowed"));
        let mut ran = Ran::default();
        ran.add(&program(), crashed);
        assert!(!ran.ok());
        assert_eq!(ran.counts.failed, 1);
        assert_eq!(ran.crashed, ["a it"]);
    }

    #[test]
    fn a_test_that_says_that_it_is_skipped_is_not_passed_and_in_ci_is_failed() {
        let ended = r#"{"type":"test","event":"ok","name":"b","exec_time":2.5,"stdout":"x\nskipped: no root\n"}"#;
        let here = result(&[STARTED, ended, FINISHED]);
        let told_here = told(&program(), &here, Duration::ZERO);
        assert!(told_here.contains("---- a it b skipped: no root\n"), "{told_here}");
        let mut ran = Ran::default();
        ran.add(&program(), here);
        assert!(ran.ok());
        assert_eq!(ran.counts, Counts { skipped: 1, ..Counts::default() });

        let lines = [STARTED, ended, FINISHED];
        let in_ci = ProgramResult { must_not_skip: true, ..result(&lines) };
        let told_in_ci = told(&program(), &in_ci, Duration::ZERO);
        assert!(told_in_ci.contains("because it was skipped: no root"), "{told_in_ci}");
        assert!(told_in_ci.contains("FAILED "), "{told_in_ci}");
        let mut ran = Ran::default();
        ran.add(&program(), in_ci);
        assert!(!ran.ok());
        assert_eq!(ran.counts, Counts { failed: 1, ..Counts::default() });
    }

    #[test]
    fn what_a_real_test_program_prints_when_it_passes_is_read() {
        // The test runs itself once more, in a process that only prints.
        const PRINTS: &str = "AKASH_XTASK_TEST_PRINTS";
        if std::env::var_os(PRINTS).is_some() {
            return println!("skipped: said by a real test");
        }
        let (path, directory) = (std::env::current_exe().unwrap(), env!("CARGO_MANIFEST_DIR"));
        let itself = TestProgram { path, directory: directory.into(), ..program() };
        let name = "runner::tests::what_a_real_test_program_prints_when_it_passes_is_read";
        let mut one = command(&itself, Selection { real: false, full: false });
        let result = follow(one.env(PRINTS, "1").args(["--exact", name]), PATIENCE).unwrap();
        let skipped: Vec<_> = result.tests.iter().filter_map(Test::skipped).collect();
        assert_eq!(skipped, ["said by a real test"], "{}", result.output);
    }

    #[test]
    fn a_child_that_a_test_left_behind_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let script = format!("sleep 600 & echo $! > child; echo '{FINISHED}'");
        let mut shell = process::program("sh");
        let result =
            follow(shell.args(["-c", &script]).current_dir(folder.path()), PATIENCE).unwrap();
        let child = std::fs::read_to_string(folder.path().join("child")).unwrap();
        let killed = process::succeeds(process::program("kill").arg(child.trim())).unwrap();
        assert!(killed, "the child had ended before");
        assert!(!result.failed());
    }

    #[test]
    fn tests_on_real_components_run_apart() {
        let arguments = |real| {
            let command = command(&program(), Selection { real, full: false });
            command.get_args().map(|it| it.display().to_string()).collect::<Vec<_>>()
        };
        assert!(arguments(true).ends_with(&["real::".to_owned()]));
        assert!(arguments(false).ends_with(&["--skip".to_owned(), "real::".to_owned()]));
    }
}
