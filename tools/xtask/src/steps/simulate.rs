//! The deterministic simulation: without defects nothing may be found, with each
//! of them something must be.

use anyhow::{Context, Result};

use super::build::test_programs;
use super::{Outcome, Workspace};
use crate::process::{program, succeeds};

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let built = test_programs()?;
    if !built.ok {
        return Ok(Outcome { does_not_compile: true, ..Outcome::default() });
    }
    let simulate = built.binary("simulate").context("the test build has no program simulate")?;
    let seeds = if workspace.full { "2000" } else { "200" };
    let sound = succeeds(program(simulate).args(["--seeds", seeds]))?;
    let found = succeeds(program(simulate).arg("--defects"))?;
    let note = match (sound, found) {
        (true, true) => format!("{seeds} seeds"),
        (false, _) => {
            "see the violations above; `cargo xtask simulate --seed` plays one".to_owned()
        }
        (true, false) => "a deliberate defect was not found".to_owned(),
    };
    Ok(Outcome { ok: sound && found, ..Outcome::noted(note) })
}
