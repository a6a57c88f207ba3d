//! The API documentation: links that lead nowhere are warnings of rustdoc, and no code in it is left
//! to be run.
//!
//! Code in documentation would be compiled apart from everything else, with other features: minutes
//! for what a test beside the code shows in none.

use std::fs;

use anyhow::{Context, Result};

use super::Outcome;
use crate::process::{cargo, program, root, stdout_of, succeeds};

pub(super) fn run() -> Result<Outcome> {
    let mut doc = cargo();
    doc.args(["doc", "--workspace", "--no-deps", "--locked"]).env("RUSTDOCFLAGS", "-Dwarnings");
    let built = succeeds(&mut doc)?;
    let mut examples = 0;
    for file in stdout_of(program("git").args(["ls-files", "*.rs"]))?.lines() {
        let text = fs::read_to_string(root().join(file)).with_context(|| format!("read {file}"))?;
        for line in code_to_run(&text) {
            examples += 1;
            println!("{file}:{line}: nothing runs this code: mark it `text` and write a test");
        }
    }
    Ok(Outcome::of(built && examples == 0))
}

/// The numbers of lines where a doc comment begins code that rustdoc would run.
fn code_to_run(source: &str) -> Vec<usize> {
    let mut inside = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(source.lines()) {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(language) = comment.and_then(|it| it.trim_start().strip_prefix("```")) else {
            inside &= comment.is_some();
            continue;
        };
        inside = !inside;
        let runs = ["", "rust", "no_run", "should_panic", "ignore", "compile_fail"];
        if inside && runs.contains(&language.trim()) {
            found.push(number);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_rustdoc_would_run_is_found() {
        let fence = "```";
        let source = format!(
            "//! {fence}text\n//! a diagram\n//! {fence}\n\n    /// {fence}\n    /// run();\n    /// {fence}\nfn f() {{}}\n"
        );
        assert_eq!(code_to_run(&source), [5]);
    }
}
