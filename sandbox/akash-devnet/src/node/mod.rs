//! A node without its network: CheckTx state, mempool, block building, history.
//!
//! Pure, like the state machine below it: time comes in, blocks come out, and the same calls give
//! the same blocks bit for bit. Nothing here may know sockets, files, clocks or tasks.
//!
//! ```text
//! broadcast ─► admit (room, size, cache) ─► CheckTx on the check state ─► mempool
//!                                                                          │ reap (gas, bytes)
//! history ◄─ commit ◄─ end ◄─ deliver* ◄─ begin ◄──────── produce_block ◄──┘
//!                └─► the check state starts over; what is refused now leaves the mempool
//! ```
//!
//! Blocks are what CometBFT 0.38 would make with one validator: Merkle roots, ids and votes are
//! computed and signed, so that a client that checks them is content.

mod app;
mod block;
mod commit;
mod header;
mod history;
mod mempool;
mod merkle;
mod produce;
mod query;
mod time;

pub use app::{App, Chain};
pub use block::Block;
pub use commit::{Commit, VOTING_POWER, Validator, Vote, address_of, sign_bytes};
pub use header::{BLOCK_PROTOCOL, BlockId, ConsensusAddress, Header, id_to_wire, signed};
pub use history::{HEAD, Head, HeightError, History, Record, TxPlace, parse_hash};
pub use mempool::{BlockLimits, BroadcastError, Mempool, MempoolLimits, Pending};
pub use merkle::{Hash, Proof, proof, sha256};
pub use produce::{Checked, Node, ReplayError};
pub use query::{Query, QueryParseError};
pub use time::{parse_rfc3339, rfc3339, rfc3339_seconds, timestamp};

#[cfg(test)]
pub(crate) mod tests;
