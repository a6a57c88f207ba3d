//! Every fuzz target, long enough to meet its seeds and some thousands of
//! variations of them.

use std::time::Duration;

use anyhow::Result;

use super::{Outcome, Workspace};
use crate::fuzz::{Fuzzer, Show, targets};

const SHORT: Duration = Duration::from_secs(10);
const LONG: Duration = Duration::from_secs(600);

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let each = if workspace.full { LONG } else { SHORT };
    let targets = targets()?;
    let fuzzer = Fuzzer::built()?;
    let mut ok = true;
    let mut remarks = Vec::new();
    for target in &targets {
        println!("fuzzing {target} for {} s", each.as_secs());
        let run = fuzzer.run(target, each, Show::Failures)?;
        println!("{target}: {run}");
        ok &= run.clean;
        remarks.push(format!("{target}: {run}"));
    }
    Ok(Outcome { ok, ..Outcome::noted(remarks.join("; ")) })
}
