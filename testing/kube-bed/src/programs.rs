//! The programs of Kubernetes that a bed is made of.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

/// Programs by name.
#[derive(Debug)]
pub(crate) struct Programs(BTreeMap<&'static str, PathBuf>);

impl Programs {
    /// Finds programs, and builds those that are nowhere.
    pub(crate) async fn provide(names: &'static [&'static str]) -> Result<Self> {
        let find = move || -> Result<_> {
            names.iter().map(|name| Ok((*name, components::provide(name)?))).collect()
        };
        Ok(Self(tokio::task::spawn_blocking(find).await??))
    }

    /// A command that runs one of them.
    pub(crate) fn command(&self, name: &str) -> Result<Command> {
        Ok(Command::new(self.0.get(name).with_context(|| format!("{name} was not asked for"))?))
    }
}

/// The client that operators have, of the version that beds have.
pub async fn kubectl() -> Result<PathBuf> {
    let programs = Programs::provide(&["kubectl"]).await?;
    Ok(programs.command("kubectl")?.get_program().into())
}
