//! Intents: what the provider wants to be true on chain, and what became of it.
//!
//! An intent names the state it wants ([`Wanted`]), not only the message that brings it about, so
//! that whoever carries it out may ask whether it holds already, and trying again is safe.
//!
//! Must not know transactions, sequences or fees: those are the lane's.

mod action;
mod conflict;
mod outcome;
mod wanted;

use std::fmt;

pub use action::{Action, BidOffer, PackedMessage};
pub use conflict::{Subject, Touch};
pub use outcome::Outcome;
pub use wanted::Wanted;

/// Names an intent. Chosen by whoever wants it; unique among those that are under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IntentId(pub u64);

impl fmt::Display for IntentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// How urgent an intent is. In the order in which those beside bids are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// A bid: late is as good as never.
    Bid,
    /// Something that a deadline on chain or in the contract demands.
    Deadline,
    /// Ends a bid or a lease.
    Close,
    /// Collects money.
    Withdraw,
    /// All else: certificates, the provider's own record.
    Housekeeping,
}

impl Class {
    /// Every class, bids first.
    pub const ALL: [Self; 5] =
        [Self::Bid, Self::Deadline, Self::Close, Self::Withdraw, Self::Housekeeping];

    /// Name in texts and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bid => "bid",
            Self::Deadline => "deadline",
            Self::Close => "close",
            Self::Withdraw => "withdraw",
            Self::Housekeeping => "housekeeping",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Something that shall be true on chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// Its name.
    pub id: IntentId,
    /// How urgent it is.
    pub class: Class,
    /// What brings it about.
    pub action: Action,
    /// Height at which it was decided.
    pub created: u64,
    /// Last height at which it makes sense; `None` if it always does.
    pub deadline: Option<u64>,
}

impl Intent {
    /// An intent decided at a height, of its action's class and without a deadline.
    pub fn new(id: IntentId, action: Action, created: u64) -> Self {
        Self { id, class: action.class(), action, created, deadline: None }
    }

    /// The same of another class.
    pub fn of_class(self, class: Class) -> Self {
        Self { class, ..self }
    }

    /// The same, pointless after a height.
    pub fn until(self, deadline: u64) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// The state it wants.
    pub fn wanted(&self) -> Wanted {
        self.action.wanted(self.created)
    }
}

#[cfg(test)]
mod tests;
