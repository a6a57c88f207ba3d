//! Deliberate mistakes, so that whoever looks for mistakes can be tested.
//!
//! Compiled only with the feature `defects`, which only `provider-testkit` turns on.

/// A mistake that somebody could make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// What runs and what is booked for it are both taken off what is free.
    DoubleCounting,
    /// A lease of which the chain could not be asked is taken for one that is over.
    TeardownOnUnknown,
    /// Some bids are noted and not handed to the lane.
    LostIntent,
    /// Nothing is kept for some orders that get a bid.
    ForgottenReservation,
    /// Everything found at the start is written again.
    RedeployAtStart,
    /// Money is collected once more when a lease is over.
    WithdrawAfterClose,
    /// The tenant hears yes although the cluster did not keep the manifest.
    EmptyPromise,
    /// A lease that the cluster has nothing of is closed when its manifest deadline has passed.
    CloseOnAbsence,
}

impl Defect {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::DoubleCounting,
        Self::TeardownOnUnknown,
        Self::LostIntent,
        Self::ForgottenReservation,
        Self::RedeployAtStart,
        Self::WithdrawAfterClose,
        Self::EmptyPromise,
        Self::CloseOnAbsence,
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
            Self::EmptyPromise => "empty promise",
            Self::CloseOnAbsence => "close on absence",
        }
    }
}
