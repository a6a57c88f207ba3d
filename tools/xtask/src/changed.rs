//! Which crates a change can affect: those whose files changed, and all that depend on them.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use crate::metadata::Member;
use crate::process::{program, stdout_of};

/// Crates whose tests run another crate's program, which no dependency says.
const STARTS: [(&str, &str); 1] = [("e2e", "provider-services")];

/// What a change can affect.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Affected {
    /// Something that belongs to no crate changed, such as a fixture or the lock file.
    Everything,
    Crates(BTreeSet<String>),
}

impl Affected {
    pub(crate) fn has(&self, package: &str) -> bool {
        match self {
            Affected::Everything => true,
            Affected::Crates(names) => names.contains(package),
        }
    }
}

/// What the uncommitted changes affect; without any, those of the last commit.
pub(crate) fn since_last_commit(members: &[Member]) -> Result<Affected> {
    let list = |args: &[&str]| -> Result<Vec<String>> {
        Ok(stdout_of(program("git").args(args))?.lines().map(str::to_owned).collect())
    };
    let mut files = list(&["diff", "--name-only", "HEAD"])?;
    files.extend(list(&["ls-files", "--others", "--exclude-standard"])?);
    if files.is_empty() {
        files = list(&["diff", "--name-only", "HEAD~1"])?;
    }
    Ok(affected(&files, members))
}

fn affected(files: &[String], members: &[Member]) -> Affected {
    let mut names = BTreeSet::new();
    for file in files {
        let owners = members.iter().filter(|member| Path::new(file).starts_with(&member.directory));
        let Some(owner) = owners.max_by_key(|member| member.directory.as_os_str().len()) else {
            return Affected::Everything;
        };
        names.insert(owner.name.clone());
    }
    loop {
        let reaches = |member: &&Member| {
            let starts = STARTS.iter().filter(|(name, _)| *name == member.name);
            let mut needs = member.dependencies.iter().map(String::as_str);
            needs.any(|it| names.contains(it))
                || starts.into_iter().any(|(_, it)| names.contains(*it))
        };
        let more: Vec<_> =
            members.iter().filter(reaches).map(|member| member.name.clone()).collect();
        let before = names.len();
        names.extend(more);
        if names.len() == before {
            return Affected::Crates(names);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, directory: &str, dependencies: &[&str]) -> Member {
        Member {
            name: name.to_owned(),
            directory: directory.into(),
            dependencies: dependencies.iter().map(|&it| it.to_owned()).collect(),
        }
    }

    fn members() -> Vec<Member> {
        vec![
            member("types", "crates/types", &["serde"]),
            member("chain", "crates/chain", &["types"]),
            member("provider-services", "crates/provider-services", &["chain"]),
            member("e2e", "e2e", &[]),
            member("kube-bed", "testing/kube-bed", &[]),
        ]
    }

    fn names(files: &[&str]) -> Vec<String> {
        let files: Vec<_> = files.iter().map(|&file| file.to_owned()).collect();
        match affected(&files, &members()) {
            Affected::Crates(names) => names.into_iter().collect(),
            Affected::Everything => vec!["everything".to_owned()],
        }
    }

    #[test]
    fn a_change_affects_its_crate_and_all_that_need_it() {
        assert_eq!(names(&["crates/chain/src/lib.rs"]), ["chain", "e2e", "provider-services"]);
        assert_eq!(names(&["testing/kube-bed/src/lib.rs"]), ["kube-bed"]);
        assert_eq!(names(&["crates/types/Cargo.toml"]).len(), 4);
    }

    #[test]
    fn what_belongs_to_no_crate_affects_everything() {
        assert_eq!(names(&["crates/chain/src/lib.rs", "Cargo.lock"]), ["everything"]);
        assert_eq!(names(&["fixtures/sdl/a.yaml"]), ["everything"]);
    }
}
