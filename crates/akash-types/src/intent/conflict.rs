//! What keeps two intents apart.

use crate::BidId;

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
