//! Compiler and clippy warnings. Denied here by flag, not in the source: a
//! newer compiler that warns more must still build the code.

use anyhow::Result;

use super::Outcome;
use crate::compile::compile;
use crate::process::{cargo, succeeds};

const EVERYTHING: [&str; 3] = ["--workspace", "--all-targets", "--locked"];

pub(super) fn run() -> Result<Outcome> {
    let checked = compile(cargo().arg("clippy").args(EVERYTHING), &["--", "-D", "warnings"])?;
    if checked.ok {
        let note = format!("{} units checked", checked.units);
        return Ok(Outcome { ok: true, ..Outcome::noted(note) });
    }
    println!("was it a warning, or does the code not compile?");
    let compiles = succeeds(cargo().args(["check", "--quiet"]).args(EVERYTHING))?;
    Ok(Outcome { does_not_compile: !compiles, ..Outcome::of(false) })
}
