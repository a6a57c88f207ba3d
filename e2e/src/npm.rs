//! Packages from npm, installed from a lock file into a cache.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Installs what `source`'s lock file names and copies `source`'s scripts beside it; the folder to
/// run node in. Nothing is installed twice: the folder's name has the lock file's content in it.
pub fn install(source: &Path) -> Result<PathBuf> {
    let lock = fs::read(source.join("package-lock.json")).context("reading package-lock.json")?;
    let cache = components::cache()?;
    fs::create_dir_all(&cache).with_context(|| format!("making {}", cache.display()))?;
    // Several tests want the same packages at once: one installs them, the others wait for it.
    let turn = File::create(cache.join(".npm.lock")).context("opening the lock of npm packages")?;
    turn.lock().context("waiting for another installation of npm packages")?;
    let folder = cache.join(format!("npm-{:016x}", fingerprint(&lock)));
    if !folder.join("node_modules").is_dir() {
        let fresh = folder.with_extension("new");
        // What an installation that was interrupted left behind.
        fs::remove_dir_all(&fresh).ok();
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
        fs::rename(&fresh, &folder).with_context(|| format!("renaming {}", fresh.display()))?;
    }
    for entry in fs::read_dir(source).context("listing scripts")? {
        let path = entry?.path();
        let (Some(name), true) = (path.file_name(), path.extension().is_some_and(|e| e == "mjs"))
        else {
            continue;
        };
        let (wanted, copied) = (fs::read(&path)?, folder.join(name));
        // Another test may be running it.
        if fs::read(&copied).ok().as_deref() != Some(&wanted) {
            let fresh = copied.with_extension("new");
            fs::write(&fresh, wanted)
                .and_then(|()| fs::rename(&fresh, &copied))
                .with_context(|| format!("copying {}", path.display()))?;
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
