//! Each crate by itself. In a build of the whole workspace a crate may use a
//! feature of a dependency that only a neighbour asked for.

use anyhow::Result;

use super::{Outcome, Workspace};
use crate::process::{cargo, succeeds};

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let mut broken = Vec::new();
    for member in workspace.members.iter().map(|member| &member.name) {
        if !succeeds(cargo().args(["check", "--quiet", "--locked", "--package", member]))? {
            broken.push(member.as_str());
        }
    }
    let note = if broken.is_empty() {
        format!("{} crates", workspace.members.len())
    } else {
        format!("do not compile alone: {}", broken.join(", "))
    };
    Ok(Outcome { ok: broken.is_empty(), ..Outcome::noted(note) })
}
