//! The lane: one owner of a key, who brings intents into blocks.
//!
//! ```text
//!            Submit                 all simulated               in a block, no failure
//! intent ──► queued ──► planned ──────────────────► sent ─────────────────────────────► done
//!              ▲  ▲        │ message at fault         │ message at fault                  ▲
//!              │  │        └───────────► doubt ◄──────┤ sequence used by another          │
//!              │  └── does not hold, try ──┘ └────────┼── holds, or the refusal stands ───┘
//!              └── mates, refused by a node, timed out┘
//! ```
//!
//! [`Lane`] decides: pure, without clock, randomness, signing or IO, so that a simulation can drive
//! it as well. [`LaneTask`] owns the key and does what the lane says; [`LaneHandle`] is what others
//! hold.
//!
//! What must always hold:
//!
//! - Every intent ends once, and only a block ends it well: broadcasting proves nothing.
//! - As long as a transaction may come into a block, nothing else is signed with its sequence; the
//!   same bytes may be given to a node again.
//! - An intent is sent again only when its transaction cannot come any more, and when it may have
//!   come unseen only after the chain was asked.
//! - After a start, while the mempool counts more than the blocks, transactions of an earlier lane
//!   are under way: nothing is sent until they are in or timed out. That works for transactions
//!   that the asked node has; what is still on its way to a node can use up a sequence of ours,
//!   which is noticed, or do what was wanted of both. A bid or a close is refused the second time;
//!   what is not, such as a withdrawal, waits until nothing of the earlier lane can come any more.
//!
//! Must not know orders, leases or why something is wanted: that is the engine's.

mod answer;
mod choose;
mod config;
mod confirm;
mod doubt;
mod effect;
mod flight;
mod gas_model;
mod hold;
mod input;
mod machine;
mod queue;
mod round;
mod sequence;
mod status;
mod task;

pub use config::{GasSetting, LaneConfig, OWN_ADJUSTMENT};
pub use effect::{ConvertError, Draft, Effect, TxRef, message_for};
pub use hold::HoldReason;
pub use input::{
    AccountRead, Broadcasted, Input, LaneBlock, LookedUp, OurTx, Simulated, TxOutcome, Verified,
};
pub use machine::Lane;
pub use status::{LaneStatus, SequenceStatus};
pub use task::{IntentEnd, LaneHandle, LaneStopped, LaneTask};

#[cfg(test)]
mod tests;
