//! What is wrong with a setting, and what is only worth knowing.

use super::given::Place;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting} ({place}): {wrong}; {remedy}")]
pub struct ConfigError {
    pub setting: String,
    /// Where its value came from.
    pub place: Place,
    pub wrong: String,
    pub remedy: String,
}

/// Something about a setting that stops nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub setting: String,
    /// Where its value came from.
    pub place: Place,
    /// What is worth knowing.
    pub text: String,
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}): {}", self.setting, self.place, self.text)
    }
}

/// What is wrong with a text, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) what: String,
    pub(super) remedy: String,
}

impl Wrong {
    pub(super) fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }
}
