//! What `cargo metadata` knows of a workspace, as far as it is asked here.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::process;

#[derive(Deserialize)]
pub(crate) struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    workspace_root: PathBuf,
}

/// A crate of the workspace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// Where its manifest is, from the root of the workspace.
    pub(crate) directory: PathBuf,
    /// What it needs, for tests and build scripts too.
    pub(crate) dependencies: Vec<String>,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
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
    /// The workspace's own crates, sorted by name.
    pub(crate) fn members(&self) -> Vec<Member> {
        let member = |package: &Package| {
            let directory = package.manifest_path.parent().unwrap_or(Path::new(""));
            let directory = directory.strip_prefix(&self.workspace_root).unwrap_or(directory);
            Member {
                name: package.name.clone(),
                directory: directory.to_path_buf(),
                dependencies: package.dependencies.iter().map(|it| it.name.clone()).collect(),
            }
        };
        let mut members: Vec<_> = self.own().map(member).collect();
        members.sort_by(|one, other| one.name.cmp(&other.name));
        members
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
                    {"id": "w2", "name": "zeta", "manifest_path": "/w/crates/zeta/Cargo.toml",
                     "dependencies": [{"name": "clap"}, {"name": "alpha"}], "targets": [
                        {"name": "serve", "kind": ["bin"]},
                        {"name": "zeta", "kind": ["lib"]}]},
                    {"id": "w1", "name": "alpha", "manifest_path": "/w/alpha/Cargo.toml",
                     "dependencies": [], "targets": []},
                    {"id": "r", "name": "clap", "manifest_path": "/r/clap/Cargo.toml",
                     "dependencies": [], "targets": [{"name": "demo", "kind": ["bin"]}]}
                ],
                "workspace_members": ["w1", "w2"],
                "workspace_root": "/w",
                "version": 1
            }"#,
        )
        .unwrap();
        let member = |name: &str, directory: &str, dependencies: &[&str]| Member {
            name: name.to_owned(),
            directory: directory.into(),
            dependencies: dependencies.iter().map(|&it| it.to_owned()).collect(),
        };
        let zeta = member("zeta", "crates/zeta", &["clap", "alpha"]);
        assert_eq!(metadata.members(), [member("alpha", "alpha", &[]), zeta]);
        assert_eq!(metadata.programs(), ["serve"]);
    }
}
