//! The SDL of a deployment, kept so that it can be gone on with.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use akash_types::DeploymentId;
use anyhow::Context;

/// Where the SDL of a deployment is kept.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    path: PathBuf,
}

impl Kept {
    pub(super) fn of(home: &Path, chain_id: &str, id: DeploymentId) -> Self {
        // The name of a chain is somebody else's word, and no part of a path.
        let chain: String = chain_id
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
            .collect();
        let name = format!("{}-{}.yaml", id.owner(), id.dseq());
        Self { path: home.join("deployments").join(chain).join(name) }
    }

    /// Keeps an SDL. It may hold passwords, and is for its owner alone.
    pub(super) fn write(&self, sdl: &str) -> anyhow::Result<()> {
        let keep = || {
            if let Some(folder) = self.path.parent() {
                fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            }
            let mut options = fs::OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            options.open(&self.path)?.write_all(sdl.as_bytes())
        };
        keep().with_context(|| format!("cannot keep the SDL in {}", self.path.display()))
    }

    /// The SDL, if it was kept.
    pub(super) fn read(&self) -> anyhow::Result<Option<String>> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                Err(error).with_context(|| format!("cannot read {}", self.path.display()))
            }
        }
    }

    /// Forgets it. That it stays is no reason to fail.
    pub(super) fn forget(&self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_is_kept_is_read_back_and_nobody_elses() {
        let home = tempfile::tempdir().unwrap();
        let owner = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r".parse().unwrap();
        let kept = Kept::of(home.path(), "../x", DeploymentId::new(owner, 7).unwrap());
        assert!(kept.path.starts_with(home.path().join("deployments/___x")), "{kept:?}");
        assert_eq!(kept.read().unwrap(), None);
        kept.write("longer than what follows").unwrap();
        kept.write("a: 1").unwrap();
        assert_eq!(kept.read().unwrap().as_deref(), Some("a: 1"));
        let mode = fs::metadata(&kept.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        kept.forget();
        assert_eq!(kept.read().unwrap(), None);
    }
}
