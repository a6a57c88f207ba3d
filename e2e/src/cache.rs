//! A place outside the tree.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

/// Where big things are kept between runs, as `cargo xtask` keeps its tools.
pub(crate) fn cache() -> Result<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = variable("AKASH_PROVIDER_CACHE")
        .map(PathBuf::from)
        .or_else(|| {
            variable("XDG_CACHE_HOME").map(|home| PathBuf::from(home).join("akash-provider"))
        })
        .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".cache/akash-provider")))
        .context("neither AKASH_PROVIDER_CACHE nor HOME is set")?;
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    Ok(folder)
}
