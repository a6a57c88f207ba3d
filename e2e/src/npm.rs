//! Packages from npm, installed from a lock file into a cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Installs what `source`'s lock file names and copies `source`'s scripts beside it; the folder to
/// run node in. Nothing is installed twice: the folder's name has the lock file's content in it.
pub fn install(source: &Path) -> Result<PathBuf> {
    let lock = fs::read(source.join("package-lock.json")).context("reading package-lock.json")?;
    let folder = components::cache()?.join(format!("npm-{:016x}", fingerprint(&lock)));
    if !folder.join("node_modules").is_dir() {
        let fresh = folder.with_extension(format!("new-{}", std::process::id()));
        fs::create_dir_all(&fresh).with_context(|| format!("making {}", fresh.display()))?;
        for file in ["package.json", "package-lock.json"] {
            fs::copy(source.join(file), fresh.join(file))
                .with_context(|| format!("copying {file}"))?;
        }
        let status = Command::new("npm")
            .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
            .current_dir(&fresh)
            .status()
            .context("running npm; install Node.js with npm to run these tests")?;
        ensure!(status.success(), "npm ci failed in {}", fresh.display());
        // Whoever comes second finds the folder there and is as well served by it.
        if fs::rename(&fresh, &folder).is_err() {
            ensure!(folder.join("node_modules").is_dir(), "cannot rename {}", fresh.display());
            fs::remove_dir_all(&fresh).ok();
        }
    }
    for entry in fs::read_dir(source).context("listing scripts")? {
        let path = entry?.path();
        if let (Some(name), true) = (path.file_name(), path.extension().is_some_and(|e| e == "mjs"))
        {
            fs::copy(&path, folder.join(name)).context("copying a script")?;
        }
    }
    Ok(folder)
}

/// FNV-1a: enough to tell lock files apart.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
