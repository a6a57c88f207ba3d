//! Starting other programs: where, with which environment, and what becomes of
//! their output.

use std::env;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use anyhow::{Context, Result, bail};

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// A program, run at the root of the workspace.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root());
    // `cargo run` describes xtask in these. Build scripts that watch them would
    // run again whenever cargo is called from here after a call from a shell.
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(describes_xtask) {
            command.env_remove(name);
        }
    }
    command
}

/// The cargo that started xtask, run at the root of the workspace.
pub(crate) fn cargo() -> Command {
    program(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn describes_xtask(variable: &str) -> bool {
    variable.starts_with("CARGO_PKG_")
        || variable.starts_with("CARGO_MANIFEST_")
        || ["CARGO_BIN_NAME", "CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE"].contains(&variable)
}

/// Runs a command with its output on ours, and says whether it succeeded.
pub(crate) fn succeeds(command: &mut Command) -> Result<bool> {
    announce(command);
    let status = command.status().with_context(|| format!("start {}", line_of(command)))?;
    Ok(status.success())
}

/// Runs a command, handing over each line of its standard output as it comes.
/// Its standard error goes to ours.
pub(crate) fn each_line(command: &mut Command, on_line: impl FnMut(&str)) -> Result<ExitStatus> {
    let mut child = start(command.stdout(Stdio::piped()))?;
    if let Some(stdout) = child.stdout.take() {
        lines(stdout, on_line)?;
    }
    child.wait().with_context(|| format!("wait for {}", line_of(command)))
}

/// The same for its standard error; its standard output goes to ours.
pub(crate) fn each_error_line(
    command: &mut Command,
    on_line: impl FnMut(&str),
) -> Result<ExitStatus> {
    let mut child = start(command.stderr(Stdio::piped()))?;
    if let Some(stderr) = child.stderr.take() {
        lines(stderr, on_line)?;
    }
    child.wait().with_context(|| format!("wait for {}", line_of(command)))
}

fn start(command: &mut Command) -> Result<Child> {
    command.spawn().with_context(|| format!("start {}", line_of(command)))
}

fn lines(from: impl Read, mut on_line: impl FnMut(&str)) -> Result<()> {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).context("read output")? > 0 {
        on_line(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']));
        line.clear();
    }
    Ok(())
}

/// Runs a command to its end and keeps its output.
pub(crate) fn captured(command: &mut Command) -> Result<Output> {
    command.stdin(Stdio::null()).output().with_context(|| format!("start {}", line_of(command)))
}

/// The standard output of a command that has to succeed.
pub(crate) fn stdout_of(command: &mut Command) -> Result<String> {
    let output = captured(command)?;
    if !output.status.success() {
        bail!(
            "{} failed:\n{}",
            line_of(command),
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
    }
    String::from_utf8(output.stdout).with_context(|| format!("read {}", line_of(command)))
}

/// Prints the command as it would be typed.
pub(crate) fn announce(command: &Command) {
    eprintln!("$ {}", line_of(command));
}

/// The command as it would be typed, with the variables set for it.
fn line_of(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        let value = value?;
        Some(format!("{}={}", name.display(), quoted(value)))
    });
    let name = Path::new(command.get_program());
    let name = name.file_name().unwrap_or(name.as_os_str());
    let words = std::iter::once(name).chain(command.get_args()).map(quoted);
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &OsStr) -> String {
    let word = word.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_shows_as_it_would_be_typed() {
        let mut command = Command::new("/opt/rust/bin/cargo");
        command.args(["doc", "--workspace", "it's"]).env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(
            line_of(&command),
            r"RUSTDOCFLAGS='-D warnings' cargo doc --workspace 'it'\''s'"
        );
    }

    #[test]
    fn variables_about_xtask_are_told_from_settings() {
        assert!(describes_xtask("CARGO_PKG_VERSION"));
        assert!(describes_xtask("CARGO_MANIFEST_DIR"));
        assert!(!describes_xtask("CARGO_TARGET_DIR"));
        assert!(!describes_xtask("CARGO_HOME"));
    }

    #[test]
    fn lines_arrive_whole_and_the_last_needs_no_newline() {
        let mut lines = Vec::new();
        let status = each_line(Command::new("printf").arg("one\\ntwo"), |line| {
            lines.push(line.to_owned());
        })
        .unwrap();
        assert!(status.success());
        assert_eq!(lines, ["one", "two"]);
    }
}
