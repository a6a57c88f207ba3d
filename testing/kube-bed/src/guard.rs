//! Gives back what a bed took: processes, and the folder.
//!
//! A test that is killed runs no `drop`. So another process does the work in every case: a shell
//! that waits for the end of its input. The input is ours; it ends when the bed is dropped, and
//! when the test process is gone for whatever reason. What the shell does is in `guard.sh`.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

/// The folder of a bed, and the process that empties it.
#[derive(Debug)]
pub(crate) struct Guard {
    folder: PathBuf,
    shell: Child,
}

impl Guard {
    /// Makes a folder.
    pub(crate) fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("kube-bed-").tempdir()?;
        for name in ["pids", "log"] {
            std::fs::create_dir(folder.path().join(name))?;
        }
        let shell = Command::new("sh")
            .args(["-c", include_str!("guard.sh"), "kube-bed-guard"])
            .arg(folder.path())
            .stdin(Stdio::piped())
            // Ctrl-C at the test is no reason to leave things behind.
            .process_group(0)
            .spawn()
            .context("starting the shell that cleans up")?;
        Ok(Self { folder: folder.keep(), shell })
    }

    /// A number that no other guard has.
    pub(crate) fn id(&self) -> u32 {
        self.shell.id()
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Guard {
    #[allow(clippy::print_stderr, reason = "whoever reads of a failed test wants the logs")]
    fn drop(&mut self) {
        if let Some(mut input) = self.shell.stdin.take()
            && std::thread::panicking()
        {
            eprintln!("the logs of the bed are in {}", self.folder.join("log").display());
            let _ = input.write_all(b"keep\n");
        }
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, clippy::unwrap_used)]

    use super::*;

    fn left_in(folder: &Path) -> Vec<PathBuf> {
        let left = std::fs::read_dir(folder).into_iter().flatten();
        left.map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn a_test_that_failed_leaves_its_logs_and_another_nothing() {
        let guard = Guard::new().unwrap();
        let passed = guard.folder().to_owned();
        drop(guard);
        assert!(!passed.exists());

        let guard = Guard::new().unwrap();
        let failed = guard.folder().to_owned();
        std::fs::write(failed.join("log/etcd"), "its last words").unwrap();
        let test = std::thread::spawn(move || {
            let _guard = guard;
            panic!("as meant: a test fails");
        });
        assert!(test.join().is_err());
        assert_eq!(left_in(&failed), [failed.join("log")]);
        assert_eq!(left_in(&failed.join("log")), [failed.join("log/etcd")]);
        std::fs::remove_dir_all(failed).unwrap();
    }
}
