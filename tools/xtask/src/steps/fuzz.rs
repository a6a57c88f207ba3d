//! Every fuzz target, long enough to meet its seeds and some thousands of
//! variations of them.

use std::time::Duration;

use anyhow::Result;

use super::{Outcome, Workspace};
use crate::fuzz::{Fuzzer, Show, targets};
use crate::parallel;

const SHORT: Duration = Duration::from_secs(10);
const LONG: Duration = Duration::from_secs(600);

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let each = if workspace.full { LONG } else { SHORT };
    let targets = targets()?;
    let fuzzer = Fuzzer::built()?;
    println!("fuzzing {} for {} s each", targets.join(", "), each.as_secs());
    let runs = parallel::each(targets, |target| {
        let run = fuzzer.run(&target, each, Show::Failures)?;
        println!("{target}: {run}");
        Ok::<_, anyhow::Error>((target, run))
    });
    let mut ok = true;
    let mut remarks = Vec::new();
    for run in runs {
        let (target, run) = run?;
        ok &= run.clean;
        remarks.push(format!("{target}: {run}"));
    }
    Ok(Outcome { ok, ..Outcome::noted(remarks.join("; ")) })
}
