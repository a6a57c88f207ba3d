//! The directory that everything is kept in.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::output::printable;

/// What the provider's log is called in it.
pub(super) const LOG: &str = "provider.log";
const MARK: &str = "genesis.json";
/// How many lines of the log are shown when something went wrong.
const LAST: usize = 10;

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
                if !is_ours(path)? {
                    bail!(
                        "{} holds something else than a quickstart: give a --home that is new or \
                         empty",
                        path.display()
                    );
                }
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

    /// What the provider said last, for who wants to know what went wrong.
    pub(super) fn last_words(&self) -> String {
        let log = std::fs::read_to_string(self.path().join(LOG)).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines.get(lines.len().saturating_sub(LAST)..).unwrap_or_default();
        if last.is_empty() {
            return String::new();
        }
        let last: String = last.iter().map(|line| format!("  {}\n", printable(line))).collect();
        format!("\nThe provider's last words:\n{last}")
    }

    /// Where it stays, if it does.
    pub(super) fn kept(&self) -> Option<&Path> {
        match self {
            Self::Named(path) => Some(path),
            Self::Passing(_) => None,
        }
    }
}

/// Whether a directory is empty, or an earlier quickstart's.
fn is_ours(path: &Path) -> anyhow::Result<bool> {
    let mut entries =
        std::fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(entries.next().is_none() || path.join(MARK).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_somebody_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("new");
        assert_eq!(Place::make(Some(&home)).unwrap().kept(), Some(home.as_path()));
        std::fs::write(home.join("keys"), "precious").unwrap();
        let refused = Place::make(Some(&home)).unwrap_err().to_string();
        assert!(refused.contains("holds something else"), "{refused}");
        std::fs::write(home.join(MARK), "{}").unwrap();
        assert!(Place::make(Some(&home)).is_ok());
    }

    #[test]
    fn what_nobody_named_is_gone_at_the_end() {
        let place = Place::make(None).unwrap();
        let path = place.path().to_owned();
        let lines: String = (0..12).map(|number| format!("line {number}\n")).collect();
        std::fs::write(path.join(LOG), lines).unwrap();
        let last = place.last_words();
        assert!(last.contains("  line 2\n") && !last.contains("line 1\n"), "{last}");
        drop(place);
        assert!(!path.exists());
    }
}
