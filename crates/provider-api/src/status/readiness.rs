//! Whether the provider can do its work.

use serde::Serialize;

/// Whether the provider can do its work, and if not, why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Readiness {
    /// Whether nothing is missing.
    pub ready: bool,
    /// What is missing.
    pub missing: Vec<Missing>,
}

/// Something that is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// What: `chain`, `cluster`, `engine`.
    pub what: &'static str,
    /// Why, in words.
    pub why: String,
}

impl Readiness {
    /// Ready if nothing is missing.
    pub const fn without(missing: Vec<Missing>) -> Self {
        Self { ready: missing.is_empty(), missing }
    }
}
