//! `cargo xtask fuzz`: cargo-fuzz on the pinned toolchain.
//!
//! A sanitizer and the coverage that steers libFuzzer are unstable flags of the
//! compiler; `RUSTC_BOOTSTRAP=1` lets the stable one take them, so no second
//! toolchain is needed.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::metadata;
use crate::process::{self, announce, captured, program, succeeds};
use crate::tools::CARGO_FUZZ;

const EXAMPLES: &str = "\
Examples:
  cargo xtask fuzz                                     every target for a minute
  cargo xtask fuzz sdl --seconds 3600                  one target for an hour
  cargo xtask fuzz sdl --input fuzz/artifacts/sdl/crash-0a1b  one input again

Inputs to begin with are in fuzz/seeds/<target>/, kept in Git: put the input of
every fixed finding there. What the fuzzer learns goes to fuzz/corpus/<target>/,
findings to fuzz/artifacts/<target>/; neither is kept in Git.
Needs a C++ compiler for libFuzzer.";

/// Run fuzz targets for as long as you like
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The target; all of them when left out
    target: Option<String>,

    /// How long to fuzz each target
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,

    /// Run the target on this file only, to see a finding again
    #[arg(long, value_name = "FILE", requires = "target", conflicts_with = "seconds")]
    input: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let mut targets = targets()?;
    if let Some(wanted) = &args.target {
        if !targets.contains(wanted) {
            bail!("no fuzz target named {wanted}; there are: {}", targets.join(", "));
        }
        targets.retain(|target| target == wanted);
    }
    let fuzzer = Fuzzer::built()?;
    let mut clean = true;
    for target in &targets {
        clean &= match &args.input {
            Some(input) => fuzzer.replay(target, input)?,
            None => {
                let run = fuzzer.run(target, Duration::from_secs(args.seconds), Show::All)?;
                println!("{target}: {run}");
                run.clean
            }
        };
    }
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What to show of a fuzzer's output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    All,
    /// All of it at the end, when there was a finding.
    Failures,
}

/// The names of the targets.
pub(crate) fn targets() -> Result<Vec<String>> {
    let metadata = metadata::read("fuzz/Cargo.toml").context(
        "read fuzz/Cargo.toml (after a change of dependencies, \
         `cargo update --workspace --manifest-path fuzz/Cargo.toml` renews its lock file)",
    )?;
    Ok(metadata.programs())
}

/// cargo-fuzz, with the targets built.
pub(crate) struct Fuzzer {
    cargo_fuzz: PathBuf,
}

impl Fuzzer {
    pub(crate) fn built() -> Result<Self> {
        let fuzzer = Self { cargo_fuzz: CARGO_FUZZ.installed()? };
        if !succeeds(&mut fuzzer.command("build"))? {
            bail!("the fuzz targets do not build");
        }
        Ok(fuzzer)
    }

    fn command(&self, verb: &str) -> Command {
        let mut command = program(&self.cargo_fuzz);
        // Of the two profiles that cargo-fuzz knows, release forces one codegen unit on all crates:
        // twice the time for a build that runs for seconds.
        command.args([verb, "--dev", "--fuzz-dir=fuzz"]).env("RUSTC_BOOTSTRAP", "1");
        // The way through cargo-fuzz to its error tells nobody anything.
        command.env("RUST_LIB_BACKTRACE", "0");
        command
    }

    /// Fuzzes one target until the time is up or something is found.
    pub(crate) fn run(&self, target: &str, time: Duration, show: Show) -> Result<Run> {
        let corpus = format!("fuzz/corpus/{target}");
        let seeds = format!("fuzz/seeds/{target}");
        let root = process::root();
        fs::create_dir_all(root.join(&corpus)).with_context(|| format!("create {corpus}"))?;
        let mut command = self.command("run");
        command.args([target, &corpus]);
        if root.join(&seeds).is_dir() {
            command.arg(&seeds);
        }
        // An input that takes ten seconds is a finding too.
        command.args(["--", &format!("-max_total_time={}", time.as_secs()), "-timeout=10"]);

        if show == Show::All {
            announce(&command);
        }
        let (success, output) = observed(&mut command, show)?;
        let run = Run {
            clean: success,
            executions: executions_in(&output),
            input: written_in(&output).map(|path| from_root(&path, &root)),
        };
        if !run.clean {
            if show == Show::Failures {
                eprintln!("{output}");
            }
            if let Some(input) = &run.input {
                println!("input:  {}", input.display());
                println!("again:  cargo xtask fuzz {target} --input {}", input.display());
                println!("fixed?  keep the input in {seeds}/");
            }
        }
        Ok(run)
    }

    /// Runs one target on one file, and says whether it took it well.
    fn replay(&self, target: &str, input: &Path) -> Result<bool> {
        let input = std::path::absolute(input)?;
        if !input.is_file() {
            bail!("no file {}", input.display());
        }
        succeeds(self.command("run").arg(target).arg(input))
    }
}

/// Runs a fuzzer, which talks on standard error, and keeps what it said.
fn observed(command: &mut Command, show: Show) -> Result<(bool, String)> {
    if show == Show::Failures {
        let output = captured(command)?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        return Ok((output.status.success(), text));
    }
    let mut text = String::new();
    let status = process::each_error_line(command, |line| {
        eprintln!("{line}");
        text.push_str(line);
        text.push('\n');
    })?;
    Ok((status.success(), text))
}

/// How one target fared.
pub(crate) struct Run {
    pub(crate) clean: bool,
    executions: Option<u64>,
    /// The input that was found, from the root of the workspace.
    input: Option<PathBuf>,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.clean, &self.input, self.executions) {
            (true, _, Some(executions)) => write!(f, "{executions} runs"),
            (true, _, None) => f.write_str("done"),
            (false, Some(input), _) => write!(f, "FOUND {}", input.display()),
            (false, None, _) => f.write_str("failed without an input"),
        }
    }
}

/// `Done 1451782 runs in 4 second(s)`
fn executions_in(output: &str) -> Option<u64> {
    output.lines().rev().find_map(|line| {
        let (count, _) = line.strip_prefix("Done ")?.split_once(" runs in ")?;
        count.parse().ok()
    })
}

/// `artifact_prefix='…/'; Test unit written to …/crash-0a1b`
fn written_in(output: &str) -> Option<PathBuf> {
    output.lines().rev().find_map(|line| {
        let (_, path) = line.split_once("Test unit written to ")?;
        Some(PathBuf::from(path))
    })
}

fn from_root(path: &Path, root: &Path) -> PathBuf {
    path.strip_prefix(root).unwrap_or(path).to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: &str = "\
#1451782\tDONE   cov: 18 ft: 18 corp: 1/1b lim: 4096 exec/s: 362945 rss: 149Mb
Done 1451782 runs in 4 second(s)
";
    const CRASH: &str = "\
==7== ERROR: libFuzzer: deadly signal
MS: 1 ChangeBit-; base unit: adc83b19e793491b1c6ea0fd8b46cd9f32e592fc
artifact_prefix='/src/fuzz/artifacts/sdl/'; Test unit written to /src/fuzz/artifacts/sdl/crash-0a1b
Base64: Cg==
";

    #[test]
    fn the_number_of_runs_is_read() {
        assert_eq!(executions_in(QUIET), Some(1_451_782));
        assert_eq!(executions_in(CRASH), None);
    }

    #[test]
    fn the_input_of_a_finding_is_read_and_shown_from_the_root() {
        assert_eq!(written_in(QUIET), None);
        let path = written_in(CRASH).unwrap();
        assert_eq!(from_root(&path, Path::new("/src")), Path::new("fuzz/artifacts/sdl/crash-0a1b"));
        assert_eq!(from_root(&path, Path::new("/elsewhere")), path);
    }

    #[test]
    fn a_run_says_what_came_of_it() {
        let run = |clean, executions, input: Option<&str>| Run {
            clean,
            executions,
            input: input.map(PathBuf::from),
        };
        assert_eq!(run(true, Some(12), None).to_string(), "12 runs");
        assert_eq!(run(false, None, Some("a/crash-1")).to_string(), "FOUND a/crash-1");
        assert_eq!(run(false, None, None).to_string(), "failed without an input");
    }
}
