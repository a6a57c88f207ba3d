//! A disk that is soon full.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A tmpfs of 8 MiB. Dropping it unmounts it.
#[derive(Debug)]
pub struct SmallDisk(TempDir);

impl SmallDisk {
    /// Mounts one; `None`, with a line that the test is skipped, where this user may not. In CI that
    /// is a failure.
    ///
    /// # Errors
    ///
    /// When there is no folder to mount it at.
    #[expect(clippy::print_stdout, reason = "`cargo xtask test` counts the line")]
    pub fn mount() -> io::Result<Option<Self>> {
        let folder = tempfile::tempdir()?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=8m", "tmpfs"]).arg(folder.path());
        if mount.status().is_ok_and(|status| status.success()) {
            return Ok(Some(Self(folder)));
        }
        assert!(std::env::var_os("CI").is_none(), "mounting a tmpfs needs root");
        println!("skipped: mounting a tmpfs needs root");
        Ok(None)
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Takes all room that is left, until the returned file is removed.
    ///
    /// # Errors
    ///
    /// When the file cannot be created.
    pub fn fill(&self) -> io::Result<PathBuf> {
        let path = self.path().join("ballast");
        let mut file = File::create(&path)?;
        while file.write_all(&[0; 4096]).is_ok() {}
        Ok(path)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}
