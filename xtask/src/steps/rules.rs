//! The dependency rules of the architecture.

use anyhow::Result;

use super::{Outcome, Workspace};
use crate::rules;

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let verdict = rules::check(
        &workspace.members.iter().map(|member| member.name.clone()).collect::<Vec<_>>(),
    )?;
    for message in &verdict.broken {
        println!("{message}");
    }
    if !verdict.waiting.is_empty() {
        println!("rules that wait for their crate: {}", verdict.waiting.join(", "));
    }
    let mut note = format!("{} rules", verdict.applied);
    if !verdict.broken.is_empty() {
        note = format!("{note}, {} forbidden dependencies", verdict.broken.len());
    }
    Ok(Outcome { ok: verdict.broken.is_empty(), ..Outcome::noted(note) })
}
