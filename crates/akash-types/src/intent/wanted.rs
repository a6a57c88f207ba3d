//! The state that an intent wants: a question to the chain.

use crate::{BidId, LeaseId, Provider};

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
