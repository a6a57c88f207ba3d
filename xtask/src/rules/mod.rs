//! The dependency rules of the workspace, checked on what each crate links.
//!
//! The graph comes from `cargo tree`, a crate at a time: `cargo metadata` joins
//! the features that all crates of the workspace ask for, and would blame one
//! crate for an optional dependency that only another turned on. Dependencies of
//! tests, build scripts and procedural macros are not linked and do not count.

mod table;

use anyhow::Result;

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
pub(crate) fn check(members: &[String]) -> Result<Verdict> {
    let mut broken = Vec::new();
    for member in members {
        let rules: Vec<_> = table::RULES.iter().filter(|rule| matches(rule.of, member)).collect();
        if rules.is_empty() {
            continue;
        }
        let tree = process::stdout_of(process::cargo().args([
            "tree",
            "--locked",
            "--package",
            member,
            "--edges=normal,no-proc-macro",
            "--target=all",
            "--prefix=depth",
            "--format={p}",
        ]))?;
        let paths = paths(&tree);
        for rule in rules {
            for path in forbidden(&paths, rule) {
                broken.push(format!(
                    "{member} reaches {}: {}\n  but {}",
                    path.last().copied().unwrap_or_default(),
                    path.join(" -> "),
                    rule.because
                ));
            }
        }
    }
    let (applied, waiting): (Vec<&Rule>, Vec<&Rule>) =
        table::RULES.iter().partition(|rule| members.iter().any(|member| matches(rule.of, member)));
    Ok(Verdict {
        broken,
        applied: applied.len(),
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

/// The first way to each crate that the rule forbids.
fn forbidden<'a>(paths: &'a [Vec<&'a str>], rule: &Rule) -> Vec<&'a [&'a str]> {
    let mut found: Vec<&[&str]> = Vec::new();
    for path in paths {
        let Some((last, [_, ..])) = path.split_last() else {
            continue;
        };
        if rule.forbids(last) && !found.iter().any(|known| known.last() == Some(last)) {
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
        let found = forbidden(&paths, &RULE);
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
        assert!(forbidden(&paths, &RULE).is_empty());
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
