//! Builds by cargo whose messages are read: which test programs there are, and whether anything had
//! to be compiled.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use serde::Deserialize;

use crate::process::{announce, each_line};

/// Prints diagnostics as usual and messages for programs on standard output.
const MESSAGES: &str = "--message-format=json-render-diagnostics";

/// How a build ended.
#[derive(Default)]
pub(crate) struct Compiled {
    pub(crate) ok: bool,
    /// How many units were not up to date.
    pub(crate) units: usize,
    /// The programs with tests among what was built.
    pub(crate) programs: Vec<TestProgram>,
    binaries: Vec<PathBuf>,
}

/// A program that cargo built of the tests of one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TestProgram {
    pub(crate) package: String,
    pub(crate) target: String,
    pub(crate) path: PathBuf,
    /// The directory of its package, where its tests expect to run.
    pub(crate) directory: PathBuf,
}

impl TestProgram {
    /// Programs with long tests come first: whole systems, then integration tests.
    pub(crate) fn rank(&self) -> (bool, bool, String) {
        (self.package != "e2e", self.target != "it", self.package.clone())
    }
}

/// Runs a build; `last` are arguments that must stand at the end.
pub(crate) fn compile(command: &mut Command, last: &[&str]) -> Result<Compiled> {
    command.arg(MESSAGES).args(last);
    announce(command);
    let mut compiled = Compiled::default();
    let status = each_line(command, |line| compiled.read(line))?;
    compiled.ok = status.success();
    Ok(compiled)
}

impl Compiled {
    fn read(&mut self, line: &str) {
        let Ok(Message::CompilerArtifact(artifact)) = serde_json::from_str(line) else {
            return;
        };
        self.units += usize::from(!artifact.fresh);
        match artifact.executable.clone() {
            Some(path) if artifact.profile.test => self.programs.push(artifact.test_program(path)),
            other => self.binaries.extend(other),
        }
    }

    /// The program of this name, if it was among what was built.
    pub(crate) fn binary(&self, name: &str) -> Option<&Path> {
        let named = |path: &&PathBuf| path.file_stem().is_some_and(|stem| stem == name);
        self.binaries.iter().find(named).map(PathBuf::as_path)
    }
}

#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Message {
    CompilerArtifact(Artifact),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Artifact {
    package_id: String,
    manifest_path: PathBuf,
    target: Target,
    profile: Profile,
    executable: Option<PathBuf>,
    fresh: bool,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

impl Artifact {
    fn test_program(self, path: PathBuf) -> TestProgram {
        let directory = self.manifest_path.parent().unwrap_or(Path::new("")).to_path_buf();
        let package = package_name(&self.package_id).to_owned();
        TestProgram { package, target: self.target.name, path, directory }
    }
}

/// The name in `path+file:///src/crates/a#0.1.0` or `path+file:///src/b#a@0.1.0`.
fn package_name(id: &str) -> &str {
    let (place, version) = id.rsplit_once('#').unwrap_or((id, ""));
    match version.split_once('@') {
        Some((name, _)) => name,
        None => place.rsplit('/').next().unwrap_or(place),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: &str = r#"{"reason":"compiler-artifact","package_id":"path+file:///src/e2e/kube#kube-bed@0.1.0",
        "manifest_path":"/src/e2e/kube/Cargo.toml","target":{"name":"it","kind":["test"]},
        "profile":{"test":true},"executable":"/t/it-1","fresh":false}"#;
    const BINARY: &str = r#"{"reason":"compiler-artifact","package_id":"path+file:///src/crates/a#0.1.0",
        "manifest_path":"/src/crates/a/Cargo.toml","target":{"name":"serve","kind":["bin"]},
        "profile":{"test":false},"executable":"/t/serve","fresh":true}"#;
    const LIBRARY: &str = r#"{"reason":"compiler-artifact","package_id":"path+file:///src/crates/a#0.1.0",
        "manifest_path":"/src/crates/a/Cargo.toml","target":{"name":"a","kind":["lib"]},
        "profile":{"test":false},"executable":null,"fresh":true}"#;

    #[test]
    fn programs_with_tests_are_found_and_what_was_compiled_is_counted() {
        let mut compiled = Compiled::default();
        for line in
            [TEST, BINARY, LIBRARY, r#"{"reason":"build-finished","success":true}"#, "other"]
        {
            compiled.read(&line.replace('\n', ""));
        }
        assert_eq!(compiled.units, 1);
        let program = TestProgram {
            package: "kube-bed".to_owned(),
            target: "it".to_owned(),
            path: "/t/it-1".into(),
            directory: "/src/e2e/kube".into(),
        };
        assert_eq!(compiled.programs, [program]);
        assert_eq!(compiled.binary("serve"), Some(Path::new("/t/serve")));
        assert_eq!(compiled.binary("it-1"), None);
    }

    #[test]
    fn a_package_id_names_its_package() {
        assert_eq!(package_name("path+file:///src/crates/a#0.1.0"), "a");
        assert_eq!(package_name("path+file:///src/e2e/kube#kube-bed@0.1.0"), "kube-bed");
    }
}
