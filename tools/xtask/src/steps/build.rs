//! Builds all test programs.

use anyhow::Result;

use super::Outcome;
use crate::compile::{Compiled, compile};
use crate::process::cargo;

pub(super) fn run() -> Result<Outcome> {
    let Compiled { ok, units, programs, .. } = test_programs()?;
    let note = format!("{} test programs, {units} units compiled", programs.len());
    Ok(Outcome { ok, does_not_compile: !ok, ..Outcome::noted(note) })
}

/// Builds what is not up to date; the programs that tests start are among it.
pub(super) fn test_programs() -> Result<Compiled> {
    compile(cargo().args(["test", "--workspace", "--locked", "--no-run"]), &[])
}
