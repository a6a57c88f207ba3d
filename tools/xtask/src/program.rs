//! Building the program that is shipped.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::process::{announce, cargo, root};

pub(crate) const NAME: &str = "provider-services";

/// How it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// As it is shipped.
    Release,
    /// Quicker to make, slower to run.
    Debug,
}

/// Builds the program; where it is.
pub(crate) fn build(profile: Profile) -> Result<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--locked", "--package", NAME]);
    let folder = match profile {
        Profile::Release => {
            build.arg("--release");
            "release"
        }
        Profile::Debug => "debug",
    };
    announce(&build);
    ensure!(build.status()?.success(), "the program could not be built");
    Ok(target().join(folder).join(NAME))
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> PathBuf {
    let set = std::env::var_os("CARGO_TARGET_DIR").filter(|folder| !folder.is_empty());
    root().join(set.map_or_else(|| Path::new("target").to_owned(), PathBuf::from))
}
