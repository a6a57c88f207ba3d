//! Running the program, and what to run it on.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A small SDL whose manifest the Go program has printed.
pub(crate) const RECORDED_SDL: &str = r#"
version: "2.0"
services:
  web:
    image: localhost/busybox:bed
    command: [sh, -c, 'mkdir -p /tmp/www; echo hi > /tmp/www/index.html; echo started; exec httpd -f -v -p 8080 -h /tmp/www']
    expose:
      - port: 8080
        as: 80
        to:
          - global: true
profiles:
  compute:
    web:
      resources: {cpu: {units: 0.05}, memory: {size: 16Mi}, storage: {size: 64Mi}}
  placement:
    westcoast:
      pricing:
        web: {denom: uact, amount: 1000}
deployment:
  web:
    westcoast: {profile: web, count: 1}
"#;

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The output of a run that succeeded and had nothing to complain about.
    #[track_caller]
    pub(crate) fn quietly(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{}", self.stdout);
        self.stdout
    }

    /// The complaints of a run that failed and printed no result.
    #[track_caller]
    pub(crate) fn refused(self) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (1, ""), "{}", self.stderr);
        self.stderr
    }
}

/// The program with arguments and an environment that is empty otherwise.
pub(crate) fn command(args: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_provider-services"));
    command.args(args).env_clear().envs(variables.iter().copied());
    command
}

/// Runs the program with arguments and nothing else.
#[track_caller]
pub(crate) fn run(args: &[&str]) -> Ran {
    run_with(args, &[], b"")
}

#[track_caller]
pub(crate) fn run_with(args: &[&str], variables: &[(&str, &str)], stdin: &[u8]) -> Ran {
    let mut child = command(args, variables)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read its input may be gone before it is written.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A path in the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The entries of a folder, sorted; a folder without any is a mistake in the test.
pub(crate) fn entries(folder: &str) -> Vec<PathBuf> {
    let folder = repository(folder);
    let mut entries: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    assert!(!entries.is_empty(), "{} is empty", folder.display());
    entries
}

/// The SDLs that a reader will copy; folders beside them hold other things.
pub(crate) fn examples() -> Vec<PathBuf> {
    entries("examples").into_iter().filter(|path| path.is_file()).collect()
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
