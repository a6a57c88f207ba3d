//! `version`: what this program is and from what it was built.
//!
//! It goes to standard error: scripts that were written for the Go program look for it there.

use std::process::ExitCode;

use provider_api::status::COSMOS_SDK_VERSION;
use serde::Serialize;

use crate::cli::{NAME, ReportFormat, Version};
use crate::console::Streams;

pub(crate) use provider_api::status::VERSION;

/// What the daemon tells tenants of this build.
pub(crate) const FOR_DAEMON: provider_daemon::Build =
    provider_daemon::Build { commit: BUILD.commit, compiler: BUILD.rust };

/// Keys and values are the Go program's where a Rust program has the same thing.
#[derive(Serialize)]
struct Build {
    name: &'static str,
    server_name: &'static str,
    version: &'static str,
    commit: &'static str,
    build_tags: &'static str,
    rust: &'static str,
    cosmos_sdk_version: &'static str,
}

const BUILD: Build = Build {
    name: "akash",
    server_name: NAME,
    version: VERSION,
    commit: env!("BUILD_COMMIT"),
    build_tags: "",
    rust: env!("BUILD_RUSTC"),
    cosmos_sdk_version: COSMOS_SDK_VERSION,
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
        let Self { name, server_name, version, commit, build_tags, rust, cosmos_sdk_version } =
            *self;
        // Quoted like a Rust string, each of these is YAML too.
        format!(
            "name: {name}\nserver_name: {server_name}\nversion: {version}\ncommit: {commit:?}\n\
             build_tags: {build_tags:?}\nrust: {rust:?}\n\
             cosmos_sdk_version: {cosmos_sdk_version}\n"
        )
    }
}
