//! Tools that the checks need and that are not part of the toolchain.
//!
//! Each is built once, in one version, into a cache outside the tree. Another
//! version lives in another directory, so branches with different versions do
//! not disturb each other.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::process;

/// A program to install from crates.io.
pub(crate) struct Tool {
    name: &'static str,
    version: &'static str,
    /// How long the build takes, for whoever waits for it.
    patience: &'static str,
}

pub(crate) const CARGO_DENY: Tool =
    Tool { name: "cargo-deny", version: "0.20.2", patience: "a minute on two cores" };

pub(crate) const CARGO_FUZZ: Tool =
    Tool { name: "cargo-fuzz", version: "0.13.2", patience: "half a minute on two cores" };

impl Tool {
    /// The program's path; builds it first where the cache lacks it.
    pub(crate) fn installed(&self) -> Result<PathBuf> {
        let tools = components::cache()?.join("tools");
        let program = self.program(&tools);
        if !program.is_file() {
            self.install(&tools)
                .with_context(|| format!("install {} {}", self.name, self.version))?;
        }
        Ok(program)
    }

    fn directory(&self, tools: &Path) -> PathBuf {
        tools.join(format!("{}-{}", self.name, self.version))
    }

    fn program(&self, tools: &Path) -> PathBuf {
        self.directory(tools).join("bin").join(self.name)
    }

    /// Builds beside the final place and renames, so that an interrupted build
    /// leaves nothing that looks installed.
    fn install(&self, tools: &Path) -> Result<()> {
        let Tool { name, version, patience } = self;
        let _lock = lock(tools, &format!("{name}-{version}"))?;
        if self.program(tools).is_file() {
            return Ok(());
        }

        let place = self.directory(tools);
        eprintln!("building {name} {version} once, into {}: {patience}", place.display());
        let begun = Instant::now();
        let unfinished = tools.join(format!(".{name}-{version}.unfinished"));
        remove(&unfinished)?;
        let target = unfinished.join("target");
        let mut install = process::cargo();
        install
            // They run for seconds: a build without optimization is done sooner, with its runs.
            .args(["install", name, "--version", version, "--debug", "--locked", "--root"])
            .arg(&unfinished)
            .arg("--target-dir")
            .arg(&target)
            .current_dir(tools);
        if !process::succeeds(&mut install)? {
            bail!("cargo install failed; without a connection to crates.io, --skip the step");
        }
        remove(&target)?;
        remove(&place)?;
        fs::rename(&unfinished, &place)
            .with_context(|| format!("rename to {}", place.display()))?;
        if !self.program(tools).is_file() {
            bail!("the package {name} {version} brought no program of that name");
        }
        eprintln!("built {name} {version} in {:.0} s", begun.elapsed().as_secs_f64());
        Ok(())
    }
}

/// Keeps everyone else from building the same thing in the same place, for as long as the process
/// lives.
pub(crate) fn lock(place: &Path, name: &str) -> Result<File> {
    fs::create_dir_all(place).with_context(|| format!("create {}", place.display()))?;
    let lock = place.join(format!(".{name}.lock"));
    let lock = File::create(&lock).with_context(|| format!("create {}", lock.display()))?;
    if lock.try_lock().is_err() {
        eprintln!("waiting for another build of {name}");
        lock.lock().context("wait for the lock")?;
    }
    Ok(lock)
}

pub(crate) fn remove(directory: &Path) -> Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| format!("remove {}", directory.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_lives_under_its_name_and_version() {
        let tool = Tool { name: "cargo-x", version: "1.2.3", patience: "" };
        assert_eq!(tool.program(Path::new("/t")), Path::new("/t/cargo-x-1.2.3/bin/cargo-x"));
    }
}
