//! All tests, counted and timed: those that run anywhere, and those on real components.

use anyhow::Result;

use super::build::test_programs;
use super::{Outcome, Workspace};
use crate::packages;
use crate::runner::{self, Ran, Selection};

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    packages::provide()?;
    run_selected(workspace, false)
}

pub(super) fn run_real(workspace: &Workspace) -> Result<Outcome> {
    packages::provide_real()?;
    run_selected(workspace, true)
}

fn run_selected(workspace: &Workspace, real: bool) -> Result<Outcome> {
    let built = test_programs()?;
    if !built.ok {
        return Ok(Outcome { does_not_compile: true, ..Outcome::default() });
    }
    let mut programs = built.programs;
    programs.retain(|program| workspace.affected.has(&program.package));
    let count = programs.len();
    let ran = runner::run(programs, Selection { real, full: workspace.full })?;
    let ok = ran.ok();
    let Ran { counts, left_out, crashed, times } = ran;
    let mut note = format!("{count} test programs");
    if !crashed.is_empty() {
        note = format!("crashed: {}; {note}", crashed.join(", "));
    }
    // What a step for real components leaves out is run by the other one.
    let left_out = if real { 0 } else { left_out };
    Ok(Outcome { ok, tests: Some(counts), left_out, times, ..Outcome::noted(note) })
}
