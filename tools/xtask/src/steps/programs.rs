//! The components that tests start, installed or built where they are missing.

use anyhow::Result;

use super::Outcome;
use crate::{packages, programs};

pub(super) fn run() -> Result<Outcome> {
    packages::provide_real()?;
    programs::provide_all()?;
    Ok(Outcome::of(true))
}
