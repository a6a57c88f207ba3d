//! The dependency rules of the architecture, and claims of the documentation.

use anyhow::Result;

use super::{Outcome, Workspace};
use crate::{claims, process, rules};

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let verdict = rules::check(&workspace.members)?;
    for message in &verdict.broken {
        println!("{message}");
    }
    if !verdict.waiting.is_empty() {
        println!("rules that wait for their crate: {}", verdict.waiting.join(", "));
    }
    let untrue = claims::check(&process::root())?;
    for message in &untrue {
        println!("{message}");
    }
    let mut note = format!("{} rules", verdict.applied);
    if !verdict.broken.is_empty() {
        note = format!("{note}, {} forbidden dependencies", verdict.broken.len());
    }
    if !untrue.is_empty() {
        note = format!("{note}, {} untrue claims", untrue.len());
    }
    let ok = verdict.broken.is_empty() && untrue.is_empty();
    Ok(Outcome { ok, ..Outcome::noted(note) })
}
