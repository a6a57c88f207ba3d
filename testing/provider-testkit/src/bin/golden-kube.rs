//! Builds recorded deployments and prints where they differ from what the Go provider made.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use provider_testkit::kube::{Case, compare, compare_routes};

fn main() -> ExitCode {
    let folders: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if folders.is_empty() {
        eprintln!("usage: golden-kube FOLDER…");
        return ExitCode::FAILURE;
    }
    let mut equal = true;
    for folder in &folders {
        match differences(folder) {
            Ok(0) => println!("{}: equal", folder.display()),
            Ok(count) => {
                println!("{}: {count} differences", folder.display());
                equal = false;
            }
            Err(error) => {
                eprintln!("{}: {}", folder.display(), chain(error.as_ref()));
                equal = false;
            }
        }
    }
    if equal { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn differences(folder: &Path) -> Result<usize, Box<dyn std::error::Error>> {
    let case = Case::read(folder)?;
    let mut differences = compare(&case)?;
    differences.extend(compare_routes(&case)?);
    for difference in &differences {
        println!("{difference}");
    }
    Ok(differences.len())
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}
