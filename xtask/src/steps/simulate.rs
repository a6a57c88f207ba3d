//! The deterministic simulation: without defects nothing may be found, with each
//! of them something must be.

use anyhow::Result;

use super::{Outcome, Workspace};
use crate::process::succeeds;
use crate::simulate::simulation;

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let seeds = if workspace.full { "2000" } else { "200" };
    let sound = succeeds(simulation().args(["--seeds", seeds]))?;
    let found = succeeds(simulation().arg("--defects"))?;
    let note = match (sound, found) {
        (true, true) => format!("{seeds} seeds"),
        (false, _) => "see the violations above; --seed replays one".to_owned(),
        (true, false) => "a deliberate defect was not found".to_owned(),
    };
    Ok(Outcome { ok: sound && found, ..Outcome::noted(note) })
}
