//! cargo-deny over all dependencies, by the rules in deny.toml.

use std::env;
use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use super::Outcome;
use crate::process::{program, succeeds};
use crate::tools::CARGO_DENY;

pub(super) fn run() -> Result<Outcome> {
    let deny = CARGO_DENY.installed()?;
    let rules = ["--locked", "check", "licenses", "bans", "sources"];
    let mut ok = succeeds(program(&deny).args(rules))?;

    // The database of advisories is a Git repository. Fetching it here would make
    // the check depend on who can be reached and what was published since the
    // last run; where somebody keeps a copy it is used as it is.
    let note = if let Some(database) = advisories() {
        println!("advisories from {}", database.display());
        let rules = ["--locked", "--offline", "check", "advisories"];
        ok &= succeeds(program(&deny).args(rules))?;
        String::new()
    } else {
        "advisories NOT checked: no local copy of the database (`cargo deny fetch db` makes one)"
            .to_owned()
    };
    Ok(Outcome { ok, ..Outcome::noted(note) })
}

/// Where cargo-deny keeps its databases, if there is one.
fn advisories() -> Option<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")))?;
    let databases = home.join("advisory-dbs");
    let any =
        fs::read_dir(&databases).ok()?.flatten().any(|entry| entry.path().join(".git").exists());
    any.then_some(databases)
}
