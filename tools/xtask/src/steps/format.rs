//! Formatting, of the workspace and of the fuzz targets outside it.

use anyhow::Result;

use super::Outcome;
use crate::process::{cargo, succeeds};

pub(super) fn run() -> Result<Outcome> {
    let workspace = succeeds(cargo().args(["fmt", "--all", "--check"]))?;
    let fuzz = succeeds(cargo().args(["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))?;
    let ok = workspace && fuzz;
    let note = if ok { "" } else { "`cargo fmt --all`, at the root and in fuzz/" };
    Ok(Outcome { ok, ..Outcome::noted(note.to_owned()) })
}
