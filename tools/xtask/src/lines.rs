//! `cargo xtask lines`: how much code there is, crate by crate and in each top folder.

use std::collections::BTreeMap;
use std::fs;
use std::ops::AddAssign;
use std::path::{Component, Path};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use serde::Serialize;

use crate::{metadata, process};

/// Count lines of code, comments and tests, of each crate and each top folder
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How to print them
    #[arg(long, default_value = "table")]
    output: Output,
}

#[derive(Clone, Copy, ValueEnum)]
enum Output {
    Table,
    Json,
}

/// Lines that are not blank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct Lines {
    code: u64,
    comments: u64,
    /// Code and comments of tests and benches: folders and files of these names, and modules under
    /// `cfg(test)`.
    tests: u64,
}

impl AddAssign for Lines {
    fn add_assign(&mut self, other: Self) {
        self.code += other.code;
        self.comments += other.comments;
        self.tests += other.tests;
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let root = process::root();
    let (mut crates, mut folders) = (BTreeMap::new(), BTreeMap::<_, Lines>::new());
    let mut total = Lines::default();
    for member in metadata::read("Cargo.toml")?.members() {
        let lines = folder(&root.join(&member.directory), false)?;
        total += lines;
        let top = member.directory.components().next().unwrap_or(Component::CurDir);
        *folders.entry(format!("{}/", top.as_os_str().display())).or_default() += lines;
        crates.insert(member.directory.display().to_string(), lines);
    }
    match args.output {
        Output::Json => {
            let document =
                serde_json::json!({"crates": crates, "folders": folders, "total": total});
            println!("{document:#}");
        }
        Output::Table => {
            println!("{:<28} {:>8} {:>9} {:>8}", "crate or folder", "code", "comments", "tests");
            let rows = crates.into_iter().chain(folders).chain([("total".to_owned(), total)]);
            for (name, Lines { code, comments, tests }) in rows {
                println!("{name:<28} {code:>8} {comments:>9} {tests:>8}");
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn folder(folder: &Path, is_test: bool) -> Result<Lines> {
    let mut lines = Lines::default();
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {folder:?}"))?;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_test = is_test || ["tests", "tests.rs", "benches"].contains(&&*name);
        // A member may stand below another; it is counted by itself.
        let is_other = path.is_dir() && path.join("Cargo.toml").exists();
        // What cargo builds, where a package has a workspace of its own.
        let is_built = name == "target" && path.join("CACHEDIR.TAG").exists();
        if path.is_dir() && !is_other && !is_built {
            lines += self::folder(&path, is_test)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {path:?}"))?;
            lines += file(&text, is_test);
        }
    }
    Ok(lines)
}

/// Counts a formatted file: a module under `cfg(test)` ends at the brace in its own column.
fn file(text: &str, is_test: bool) -> Lines {
    let mut lines = Lines::default();
    let mut end_of_tests: Option<String> = None;
    let mut is_marked = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            continue;
        }
        let indent = line.strip_suffix(line.trim_start()).unwrap_or_default();
        let in_tests = end_of_tests.is_some();
        if end_of_tests.as_deref() == Some(line) {
            end_of_tests = None;
        } else if is_marked && trimmed.ends_with('{') {
            end_of_tests = Some(format!("{indent}}}"));
        }
        let is_mark = trimmed == "#[cfg(test)]";
        if is_test || in_tests || is_marked || is_mark {
            lines.tests += 1;
        } else if trimmed.starts_with("//") {
            lines.comments += 1;
        } else {
            lines.code += 1;
        }
        is_marked = is_mark;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_comments_and_code_are_told_apart() {
        let text = "\
//! Docs.

fn product() {
    // Why.
    act();
}

#[cfg(test)]
mod tests {
    fn inner() {
    }
}

fn more() {}
";
        assert_eq!(file(text, false), Lines { code: 4, comments: 2, tests: 5 });
        assert_eq!(file(text, true), Lines { code: 0, comments: 0, tests: 11 });
    }
}
