//! The program as it is used: arguments, environment and input in, output and exit code out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod environment;
mod examples;
mod files;
mod groups;
mod manifest;
mod program;
mod support;
mod validate;
mod version_hash;
