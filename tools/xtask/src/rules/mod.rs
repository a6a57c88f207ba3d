//! The dependency rules of the workspace, checked on what each crate links.
//!
//! The graph comes from `cargo tree`, a crate at a time: `cargo metadata` joins
//! the features that all crates of the workspace ask for, and would blame one
//! crate for an optional dependency that only another turned on. Dependencies of
//! tests, build scripts and procedural macros are not linked and do not count.

mod table;

use anyhow::Result;

use crate::metadata::Member;
use crate::process;

/// One line of the table.
struct Rule {
    /// The crate, or crates, held to it.
    of: &'static str,
    /// What must not be among all that it depends on.
    may_not_reach: &'static [&'static [&'static str]],
    because: &'static str,
}

impl Rule {
    fn forbids(&self, name: &str) -> bool {
        let mut patterns = self.may_not_reach.iter().copied().flatten();
        patterns.any(|pattern| matches(pattern, name))
    }
}

/// What the crates of a folder may not link.
struct FolderRule {
    of: &'static str,
    may_not_link: &'static [&'static str],
    except: &'static [&'static str],
    because: &'static str,
}

impl FolderRule {
    /// The rule for `member`, by the names of the crates in the forbidden folders.
    fn forbids(&self, member: &Member, members: &[Member], name: &str) -> bool {
        let is_in = |member: &Member, folder: &str| member.directory.starts_with(folder);
        is_in(member, self.of)
            && !self.except.contains(&member.name.as_str())
            && members.iter().any(|other| {
                other.name == name && self.may_not_link.iter().any(|folder| is_in(other, folder))
            })
    }
}

/// What a look at the whole workspace gave.
pub(crate) struct Verdict {
    /// A message for each broken rule, with the way to what it forbids.
    pub(crate) broken: Vec<String>,
    /// How many rules hold for crates that exist.
    pub(crate) applied: usize,
    /// The crates whose rules wait for them.
    pub(crate) waiting: Vec<&'static str>,
}

/// Holds the workspace's crates to the table.
pub(crate) fn check(members: &[Member]) -> Result<Verdict> {
    let mut broken = Vec::new();
    for member in members {
        let name = &member.name;
        let rules = table::RULES.iter().filter(|rule| matches(rule.of, name));
        let tree = process::stdout_of(process::cargo().args([
            "tree",
            "--locked",
            "--package",
            name,
            "--edges=normal,no-proc-macro",
            "--target=all",
            "--prefix=depth",
            "--format={p}",
        ]))?;
        let paths = paths(&tree);
        let mut blame = |path: &[&str], because| {
            let last = path.last().copied().unwrap_or_default();
            broken.push(format!("{name} reaches {last}: {}\n  but {because}", path.join(" -> ")));
        };
        for rule in rules {
            for path in forbidden(&paths, |it| rule.forbids(it)) {
                blame(path, rule.because);
            }
        }
        for rule in table::FOLDERS {
            for path in forbidden(&paths, |it| rule.forbids(member, members, it)) {
                blame(path, rule.because);
            }
        }
    }
    let (applied, waiting): (Vec<&Rule>, Vec<&Rule>) =
        table::RULES.iter().partition(|rule| members.iter().any(|it| matches(rule.of, &it.name)));
    Ok(Verdict {
        broken,
        applied: applied.len() + table::FOLDERS.len(),
        waiting: waiting.iter().map(|rule| rule.of).collect(),
    })
}

/// For each line of `cargo tree --prefix=depth`, the way there from the root.
fn paths(tree: &str) -> Vec<Vec<&str>> {
    let mut path: Vec<&str> = Vec::new();
    tree.lines()
        .filter_map(|line| {
            let digits = line.find(|c: char| !c.is_ascii_digit())?;
            let (depth, package) = line.split_at_checked(digits)?;
            path.truncate(depth.parse().ok()?);
            path.push(package.split_whitespace().next()?);
            Some(path.clone())
        })
        .collect()
}

/// The first path to each forbidden crate.
fn forbidden<'a>(
    paths: &'a [Vec<&'a str>],
    is_forbidden: impl Fn(&str) -> bool,
) -> Vec<&'a [&'a str]> {
    let mut found: Vec<&[&str]> = Vec::new();
    for path in paths {
        let Some((last, [_, ..])) = path.split_last() else {
            continue;
        };
        if is_forbidden(last) && !found.iter().any(|known| known.last() == Some(last)) {
            found.push(path);
        }
    }
    found
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "\
0akash-types v0.1.0 (/src/crates/akash-types)
1akash-proto v0.1.0 (/src/crates/akash-proto)
2prost v0.14.4
3bytes v1.11.0
2tonic-prost v0.14.9
3tonic v0.14.9
4tokio v1.50.0
1bech32 v0.12.0
1tokio v1.50.0 (*)
";

    const RULE: Rule = Rule {
        of: "akash-types",
        may_not_reach: &[&["tokio"], &["tonic-*", "akash-types"]],
        because: "it is a test",
    };

    #[test]
    fn a_tree_is_read_as_the_ways_through_it() {
        let paths = paths(TREE);
        assert_eq!(paths.len(), 9);
        assert_eq!(paths[3], ["akash-types", "akash-proto", "prost", "bytes"]);
        assert_eq!(paths[7], ["akash-types", "bech32"]);
    }

    #[test]
    fn each_forbidden_crate_is_named_once_with_the_way_to_it() {
        let paths = paths(TREE);
        let found = forbidden(&paths, |it| RULE.forbids(it));
        assert_eq!(
            found,
            [
                &["akash-types", "akash-proto", "tonic-prost"][..],
                &["akash-types", "akash-proto", "tonic-prost", "tonic", "tokio"][..],
            ]
        );
    }

    #[test]
    fn a_crate_is_not_forbidden_to_be_itself() {
        let paths = paths("0akash-types v0.1.0\n1bech32 v0.12.0\n");
        assert!(forbidden(&paths, |it| RULE.forbids(it)).is_empty());
    }

    #[test]
    fn a_folder_rule_forbids_crates_of_other_folders_but_for_its_exceptions() {
        const RULE: FolderRule = FolderRule {
            of: "crates",
            may_not_link: &["testing"],
            except: &["b"],
            because: "it is a test",
        };
        let member = |name: &str, directory: &str| Member {
            name: name.to_owned(),
            directory: directory.into(),
            dependencies: Vec::new(),
        };
        let members = [
            member("a", "crates/a"),
            member("b", "crates/b"),
            member("c", "sandbox/c"),
            member("kit", "testing/kit"),
        ];
        let forbids = |member, name| RULE.forbids(member, &members, name);
        let [a, b, c, _] = &members;
        assert!(forbids(a, "kit"));
        assert!(!forbids(a, "c") && !forbids(a, "serde"));
        assert!(!forbids(b, "kit") && !forbids(c, "kit"));
    }

    #[test]
    fn a_star_stands_for_any_rest() {
        assert!(matches("tonic-*", "tonic-prost"));
        assert!(!matches("tonic-*", "tonic"));
        assert!(matches("tonic", "tonic"));
        assert!(!matches("serde", "serde_json"));
    }

    #[test]
    fn no_rule_contradicts_the_existence_of_its_own_crate_or_is_empty() {
        for rule in table::RULES {
            assert!(!rule.because.is_empty(), "{}", rule.of);
            assert!(rule.may_not_reach.iter().any(|some| !some.is_empty()), "{}", rule.of);
        }
    }
}
