//! The directory that everything is kept in.

use std::path::{Path, PathBuf};

use anyhow::Context;

/// A directory, removed at the end unless somebody named it.
#[derive(Debug)]
pub(super) enum Place {
    Named(PathBuf),
    Passing(tempfile::TempDir),
}

impl Place {
    pub(super) fn make(named: Option<&Path>) -> anyhow::Result<Self> {
        match named {
            Some(path) => {
                std::fs::create_dir_all(path)
                    .with_context(|| format!("cannot create {}", path.display()))?;
                // Printed commands work from anywhere.
                Ok(Self::Named(std::path::absolute(path)?))
            }
            None => {
                let made = tempfile::Builder::new().prefix("akash-").tempdir();
                Ok(Self::Passing(made.context("cannot make a directory to work in")?))
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Named(path) => path,
            Self::Passing(folder) => folder.path(),
        }
    }

    /// Where it stays, if it does.
    pub(super) fn kept(&self) -> Option<&Path> {
        match self {
            Self::Named(path) => Some(path),
            Self::Passing(_) => None,
        }
    }
}
