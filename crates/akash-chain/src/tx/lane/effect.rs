//! What the lane wants done.

use std::time::Duration;

use akash_types::{IntentId, Outcome, Wanted};

use super::super::{Fee, Message};

/// Names a transaction of one lane. Two with the same content have two names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display)]
#[display("{_0}")]
pub struct TxRef(pub u64);

/// Something to do. Every effect but [`Effect::Done`], [`Effect::Drop`] and [`Effect::WakeAt`] is
/// answered by an input, sooner or later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Read the account: first what blocks say, then what the mempool adds.
    ReadAccount,
    /// Try a transaction.
    Simulate(Draft),
    /// Sign a transaction, say so, keep its bytes, and give it to a node. One after the other, in
    /// the order of these effects.
    Broadcast(Draft),
    /// Give the same bytes to a node again. In order with [`Effect::Broadcast`].
    Rebroadcast {
        /// Which.
        tx: TxRef,
        /// Which time.
        attempt: u32,
    },
    /// Look for a transaction in the blocks.
    LookUp {
        /// Which.
        tx: TxRef,
    },
    /// The bytes of a transaction are not needed any more.
    Drop {
        /// Which.
        tx: TxRef,
    },
    /// Ask the chain whether a state holds.
    Verify {
        /// For which intent.
        intent: IntentId,
        /// The state.
        wanted: Wanted,
    },
    /// An intent has ended.
    Done {
        /// Which.
        intent: IntentId,
        /// How.
        outcome: Outcome,
    },
    /// Tick at this time, or when convenient after it.
    WakeAt(Duration),
}

/// A transaction to try or to sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Its name.
    pub tx: TxRef,
    /// Its sequence.
    pub sequence: u64,
    /// What its messages are for, in their order.
    pub intents: Vec<IntentId>,
    /// What it does.
    pub messages: Vec<Message>,
    /// What is paid.
    pub fee: Fee,
    /// Its note.
    pub memo: String,
    /// Last height at which it may be included.
    pub timeout_height: u64,
}
