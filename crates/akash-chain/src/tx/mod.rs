//! Transactions: from what is meant to what a block says of it.
//!
//! ```text
//! message ─► build ─► simulate ─► fee ─► build ─► sign ─► broadcast ─► wait
//! ```
//!
//! Everything up to the signature is plain functions; [`simulate`], [`broadcast()`] and [`wait_for`]
//! talk to a node, once or until a limit, and decide nothing that their caller could.
//! Which message goes when, with which sequence, and what follows a refusal, is decided by the
//! [`lane`].

mod broadcast;
mod build;
mod code;
mod fee;
pub mod lane;
pub mod message;
mod simulate;

pub use crate::query::{TxFound, TxHash, TxResult};
pub use broadcast::{
    Broadcast, BroadcastError, BroadcastMode, BroadcastModeError, Wait, WaitError, broadcast,
    wait_for,
};
pub use build::{BuildError, SignedTx, Signer, TxPlan, Unsigned};
pub use code::{Refusal, RefusalKind, SequenceMismatch};
pub use fee::{
    Fee, FeeError, FeeRule, GasAdjustment, GasError, GivenError, GivenTx, SignFor, signed_elsewhere,
};
pub use message::{Message, MessageError};
pub use simulate::{SimulateError, Simulation, SimulationRefusal, simulate};
