//! SDL to groups, manifest and version hash.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

mod golden;
mod language;
mod manifest;
mod properties;
