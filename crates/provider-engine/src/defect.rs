//! Deliberate mistakes, so that whoever looks for mistakes can be tested.
//!
//! Compiled only with the feature `defects`, which no program turns on.

/// A mistake that somebody could make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// What runs and what is booked for it are both taken off what is free.
    DoubleCounting,
    /// A lease that the cluster does not show is taken for one that is over.
    TeardownOnUnknown,
    /// A bid is noted and not handed to the lane.
    LostIntent,
    /// Nothing is kept for an order that gets a bid.
    ForgottenReservation,
    /// Everything found at the start is written again.
    RedeployAtStart,
    /// Money is collected once more when a lease is over.
    WithdrawAfterClose,
    /// The tenant hears yes before the cluster holds the manifest.
    EarlyPromise,
}

impl Defect {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::DoubleCounting,
        Self::TeardownOnUnknown,
        Self::LostIntent,
        Self::ForgottenReservation,
        Self::RedeployAtStart,
        Self::WithdrawAfterClose,
        Self::EarlyPromise,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DoubleCounting => "double counting",
            Self::TeardownOnUnknown => "teardown on unknown",
            Self::LostIntent => "lost intent",
            Self::ForgottenReservation => "forgotten reservation",
            Self::RedeployAtStart => "redeploy at start",
            Self::WithdrawAfterClose => "withdraw after close",
            Self::EarlyPromise => "early promise",
        }
    }
}
