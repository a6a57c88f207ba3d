//! Why there are no bids where tenants have to be kept apart.

/// Why there are no bids, where the operator requires that tenants are kept apart. What it says comes
/// from a probe outside of the engine.
#[derive(Clone, Debug, PartialEq, Eq, derive_more::Display)]
pub enum IsolationHold {
    /// It is not known whether they are; in words, why not.
    #[display("isolation of tenants is unknown: {_0}")]
    Unknown(String),
    /// They are not; in words, what they reach.
    #[display("tenants are not isolated: {_0}")]
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
