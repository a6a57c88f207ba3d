//! Every block of the chain, once and in order, with its events typed.
//!
//! Height is the cursor, and the caller keeps it. A WebSocket subscription and polled statuses are
//! hints that a higher height exists; what a block did is fetched, for each height, with
//! `block_results`, and its time and parent with `blockchain`. A height is never skipped: it is
//! fetched again until a node gives it, or left out by a [`Resync`] that the consumer hears.
//!
//! ```text
//!   node ── status ────────┐                      ┌─► Followed, in order ─► consumer
//!   node ── WebSocket ─────┼─► Input ─► Plan ─► Effect ─► FollowStatus ──► whoever looks
//!   node ── blockchain ────┤            (pure)    └─► ask, subscribe, ping, wake
//!   node ── block_results ─┘
//! ```
//!
//! [`plan`] holds every decision and no IO; `task` owns it and does as told; [`decode`] reads what
//! nodes send. Nothing here knows what a provider does with an event.

mod block;
pub mod decode;
mod follower;
pub mod plan;
mod status;
mod subscribe;
mod task;

pub use block::{BlockEffects, BlockEvent, Followed, FollowedBlock, TxOutcome, TxPlace, TxSigner};
pub use follower::{FollowConfig, FollowError, Follower};
pub use plan::{PlanConfig, Resync, ResyncReason};
pub use status::{FollowStatus, Health, NodeHealth, Unusable};
