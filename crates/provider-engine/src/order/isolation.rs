//! Why there are no bids where tenants have to be kept apart.

use std::fmt;

/// Why there are no bids, where the operator requires that tenants are kept apart. What it says comes
/// from a probe outside of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IsolationHold {
    /// It is not known whether they are; in words, why not.
    Unknown(String),
    /// They are not; in words, what they reach.
    Findings(String),
}

impl IsolationHold {
    /// What holds before the first probe has ended.
    pub fn before_the_first_probe() -> Self {
        Self::Unknown("no probe has ended yet".to_owned())
    }

    /// A name that does not change, for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "unknown",
            Self::Findings(_) => "findings",
        }
    }
}

impl fmt::Display for IsolationHold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(why) => write!(f, "isolation of tenants is unknown: {why}"),
            Self::Findings(what) => write!(f, "tenants are not isolated: {what}"),
        }
    }
}
