//! Notes which commit and which compiler the program is built from, and how it is linked.

#![allow(clippy::print_stdout, reason = "it is how a build script talks to cargo")]

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Both change with a commit and with a checkout; outside a repository there is neither, and
    // the commit stays empty.
    for file in ["HEAD", "logs/HEAD"] {
        let path = first_line(Command::new("git").args(["rev-parse", "--git-path", file]));
        if !path.is_empty() && Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let commit = first_line(Command::new("git").args(["rev-parse", "HEAD"]));
    println!("cargo::rustc-env=BUILD_COMMIT={commit}");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let compiler = first_line(Command::new(rustc).arg("--version"));
    println!("cargo::rustc-env=BUILD_RUSTC={compiler}");
    if can_fold() {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}

/// Whether functions that came out the same are kept once, in what is shipped: code is most of what
/// a provider at rest has in memory. Asked for only of the linker that Rust brings along there.
fn can_fold() -> bool {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    is("PROFILE", "release")
        && is("TARGET", "x86_64-unknown-linux-gnu")
        && std::env::var_os("RUSTC_LINKER").is_none()
}

/// The first line that a command prints; empty when it cannot be run or fails.
fn first_line(command: &mut Command) -> String {
    let Ok(output) = command.output() else { return String::new() };
    if !output.status.success() {
        return String::new();
    }
    String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned()
}
