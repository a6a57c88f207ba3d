//! What `cargo metadata` knows of a workspace, as far as it is asked here.

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::process;

#[derive(Deserialize)]
pub(crate) struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// Reads the workspace of a manifest, given from the root of the project.
/// Fails when its lock file is out of date.
pub(crate) fn read(manifest: &str) -> Result<Metadata> {
    let json = process::stdout_of(process::cargo().args([
        "metadata",
        "--format-version=1",
        "--locked",
        "--manifest-path",
        manifest,
    ]))?;
    serde_json::from_str(&json).context("read the answer of cargo metadata")
}

impl Metadata {
    /// The names of the workspace's own crates, sorted.
    pub(crate) fn members(&self) -> Vec<String> {
        let mut names: Vec<_> = self.own().map(|package| package.name.clone()).collect();
        names.sort();
        names
    }

    /// The names of the programs that the workspace's own crates build, in the
    /// order of their manifests.
    pub(crate) fn programs(&self) -> Vec<String> {
        self.own()
            .flat_map(|package| &package.targets)
            .filter(|target| target.kind.iter().any(|kind| kind == "bin"))
            .map(|target| target.name.clone())
            .collect()
    }

    fn own(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_programs_leave_out_what_comes_from_a_registry() {
        let metadata: Metadata = serde_json::from_str(
            r#"{
                "packages": [
                    {"id": "w2", "name": "zeta", "targets": [
                        {"name": "serve", "kind": ["bin"]},
                        {"name": "zeta", "kind": ["lib"]}]},
                    {"id": "w1", "name": "alpha", "targets": []},
                    {"id": "r", "name": "clap", "targets": [{"name": "demo", "kind": ["bin"]}]}
                ],
                "workspace_members": ["w1", "w2"],
                "version": 1
            }"#,
        )
        .unwrap();
        assert_eq!(metadata.members(), ["alpha", "zeta"]);
        assert_eq!(metadata.programs(), ["serve"]);
    }
}
