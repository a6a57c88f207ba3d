//! `version`: what this program is and from what it was built.
//!
//! It goes to standard error: scripts that were written for the Go program look for it there.

use std::process::ExitCode;

use serde::Serialize;

use crate::cli::{NAME, ReportFormat, Version};
use crate::streams::Streams;

/// The program's version, as it is tagged.
pub(crate) const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

/// Keys and values are the Go program's where a Rust program has the same thing.
#[derive(Serialize)]
struct Build {
    name: &'static str,
    server_name: &'static str,
    version: &'static str,
    commit: &'static str,
    build_tags: &'static str,
    rust: &'static str,
}

const BUILD: Build = Build {
    name: "akash",
    server_name: NAME,
    version: VERSION,
    commit: env!("BUILD_COMMIT"),
    build_tags: "",
    rust: env!("BUILD_RUSTC"),
};

/// What this program is, as one line of JSON.
pub(crate) fn document() -> serde_json::Result<String> {
    serde_json::to_string(&BUILD)
}

pub(crate) fn run(args: &Version, streams: &mut Streams<'_>) -> anyhow::Result<ExitCode> {
    let text = match (args.long, args.output) {
        (false, _) => format!("{VERSION}\n"),
        (true, ReportFormat::Text) => BUILD.to_yaml(),
        (true, ReportFormat::Json) => serde_json::to_string_pretty(&BUILD)? + "\n",
    };
    streams.tell(&text);
    Ok(ExitCode::SUCCESS)
}

impl Build {
    fn to_yaml(&self) -> String {
        let Self { name, server_name, version, commit, build_tags, rust } = *self;
        // Quoted like a Rust string, each of these is YAML too.
        format!(
            "name: {name}\nserver_name: {server_name}\nversion: {version}\ncommit: {commit:?}\n\
             build_tags: {build_tags:?}\nrust: {rust:?}\n"
        )
    }
}
