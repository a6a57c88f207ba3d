//! What the lane hears.

use akash_types::{Intent, IntentId};

use super::super::{Refusal, SimulationRefusal};
use super::TxRef;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Somebody wants something. An intent whose id is under way already is ignored.
    Submit(Vec<Intent>),
    /// The reason of an intent is gone.
    Forget(IntentId),
    /// The account, as asked for by [`super::Effect::ReadAccount`].
    AccountRead(AccountRead),
    /// The account could not be read.
    AccountUnread {
        /// Why.
        reason: String,
    },
    /// How a transaction would do.
    Simulated {
        /// Which.
        tx: TxRef,
        /// What the node says.
        answer: Simulated,
    },
    /// A transaction was signed. Comes before anything else about it.
    Signed {
        /// Which.
        tx: TxRef,
        /// By which it is recognised in a block.
        signature: Vec<u8>,
    },
    /// What a node says of a transaction that it was given.
    BroadcastAnswered {
        /// Which.
        tx: TxRef,
        /// Which time it was given.
        attempt: u32,
        /// What the node says.
        answer: Broadcasted,
    },
    /// A block, the next after the one before.
    Block(LaneBlock),
    /// Blocks up to a height were not followed and never will be.
    Resynced {
        /// The height.
        height: u64,
    },
    /// The same, and what blocks said before counts no more: the chain went back, and another branch
    /// of it is at this height.
    Rebased {
        /// The height.
        height: u64,
    },
    /// Whether a transaction is in a block.
    LookedUp {
        /// Which.
        tx: TxRef,
        /// What the node says.
        answer: LookedUp,
    },
    /// Whether a wanted state holds.
    Verified {
        /// Of which intent.
        intent: IntentId,
        /// What the chain says.
        answer: Verified,
    },
    /// Time passes.
    Tick,
}

/// The account at a height, and what the node's mempool adds to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountRead {
    /// Sequence of the next transaction after the newest block.
    pub committed: u64,
    /// Sequence of the next transaction after those that wait.
    pub pending: u64,
    /// Height of the block. Not above what the sequences were read at.
    pub height: u64,
}

/// What simulation says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Simulated {
    /// It would use this much gas.
    Gas(u64),
    /// It would fail.
    Refused(SimulationRefusal),
    /// Nobody says.
    Unavailable,
}

/// What broadcasting brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broadcasted {
    /// The node has it.
    Accepted,
    /// The node does not take it.
    Refused(Refusal),
    /// Nobody says; the node may have it.
    Unknown,
}

/// What looking for a transaction brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookedUp {
    /// It is in a block.
    Found {
        /// Height of the block.
        height: u64,
        /// What it did there.
        result: TxOutcome,
    },
    /// The node knows of none, which proves nothing: it may not keep an index.
    Absent,
    /// Nobody says.
    Unavailable,
}

/// What asking for a wanted state brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    /// It holds.
    Holds {
        /// Height of the state that was read, or below.
        height: u64,
    },
    /// It does not.
    Open {
        /// Height of the state that was read, or below.
        height: u64,
    },
    /// Nobody says.
    Unavailable,
}

/// A block, as far as the lane's account is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneBlock {
    /// Its height.
    pub height: u64,
    /// Its time, in seconds since 1970.
    pub unix_time: u64,
    /// The account's transactions, in order.
    pub txs: Vec<OurTx>,
}

/// A transaction of the lane's account in a block, whoever signed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OurTx {
    /// The sequence it used.
    pub sequence: u64,
    /// Its signature.
    pub signature: Vec<u8>,
    /// What it did.
    pub result: TxOutcome,
}

/// What a transaction did in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxOutcome {
    /// Why it failed, if it did.
    pub refusal: Option<Refusal>,
    /// What it used.
    pub gas_used: u64,
}
