//! Intents: what the provider wants to be true on chain, and what became of it.
//!
//! An intent names the state it wants ([`Wanted`]), not only the message that brings it about, so
//! that whoever carries it out may ask whether it holds already, and trying again is safe.
//!
//! Must not know transactions, sequences or fees: those are the lane's.

mod action;

use crate::{BidId, LeaseId, Provider};

pub use action::{Action, BidOffer, PackedMessage};

/// Names an intent. Chosen by whoever wants it; unique among those that are under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display)]
#[display("{_0}")]
pub struct IntentId(pub u64);

/// How urgent an intent is. In the order in which those beside bids are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display)]
#[display("{}", self.as_str())]
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

/// What an intent is about. Two about the same subject go one after the other, in the order they
/// were wanted: a close that overtook its own bid would find nothing to close, and the bid would
/// then stand.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// A bid, and the lease that it becomes.
    Bid(BidId),
    /// A certificate, by its serial number.
    Certificate(String),
    /// The provider's own record.
    Provider,
    /// Whatever its owner calls it.
    Named(String),
}

/// What an action does to the escrow account of a deployment.
///
/// The chain settles an account at most once in a block. Whoever withdraws from it later in that
/// block fails, because settling again finds nothing to pay; whoever closes a payment later in that
/// block does not mind. So a withdrawal shares a block with nothing of ours that settles the account
/// before it, and a close may follow a withdrawal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Touch {
    /// Settles it and needs something to be paid.
    Withdraws,
    /// Settles it on the way. A bid that never became a lease settles nothing, but whether it did
    /// is not known here, and a withdrawal one block later costs nothing.
    Settles,
}

/// How an intent ended. Every intent ends once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its message took effect in a block.
    Executed {
        /// Height of the block.
        height: u64,
    },
    /// The state it wanted was there; whose message did it is not known.
    AlreadyHolds,
    /// The chain does not allow it, and the wanted state does not hold.
    Refused {
        /// Module that refuses; empty where only the words are known.
        codespace: String,
        /// Its number for the reason; 0 where only the words are known.
        code: u32,
        /// Its words.
        log: String,
    },
    /// It makes no message.
    Invalid {
        /// Why not.
        reason: String,
    },
    /// Its deadline passed before it took effect.
    Expired,
    /// Its reason was gone before it took effect.
    Forgotten,
    /// It was sent, its transaction cannot be found, and there is nothing to ask the chain for.
    Unknown,
}

impl Outcome {
    /// Whether the wanted state holds.
    pub const fn holds(&self) -> bool {
        matches!(self, Self::Executed { .. } | Self::AlreadyHolds)
    }

    /// Name in texts and metrics.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Executed { .. } => "executed",
            Self::AlreadyHolds => "already_holds",
            Self::Refused { .. } => "refused",
            Self::Invalid { .. } => "invalid",
            Self::Expired => "expired",
            Self::Forgotten => "forgotten",
            Self::Unknown => "unknown",
        }
    }
}

/// A state of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A bid exists, in whatever state: there is one per order and provider, ever.
    Bid(BidId),
    /// A bid is neither open nor active, or never was.
    BidOver(BidId),
    /// What a lease had earned by a height is paid out, or its payment has ended.
    Withdrawn {
        /// Which lease.
        lease: LeaseId,
        /// By when.
        since: u64,
    },
    /// A lease is being taken back, or is over.
    Reclaiming(LeaseId),
    /// A certificate of ours is published and not revoked.
    CertificateValid {
        /// Its serial number, in base-10 digits.
        serial: String,
    },
    /// A certificate of ours is revoked.
    CertificateRevoked {
        /// Its serial number, in base-10 digits.
        serial: String,
    },
    /// The provider is registered, exactly like this.
    Provider(Box<Provider>),
    /// Nothing that could be asked for: a transfer of money looks the same before and after.
    Unverifiable,
}

#[cfg(test)]
mod tests;
