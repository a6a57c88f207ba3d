//! The API documentation: links that lead nowhere are warnings of rustdoc.

use anyhow::Result;

use super::Outcome;
use crate::process::{cargo, succeeds};

pub(super) fn run() -> Result<Outcome> {
    let mut doc = cargo();
    doc.args(["doc", "--workspace", "--no-deps", "--locked"]).env("RUSTDOCFLAGS", "-Dwarnings");
    Ok(Outcome::of(succeeds(&mut doc)?))
}
