//! The components that tests start, built where the cache lacks them.

use anyhow::Result;

use super::Outcome;
use crate::programs;

pub(super) fn run() -> Result<Outcome> {
    programs::provide_all()?;
    Ok(Outcome::of(true))
}
