//! A small Akash chain for one machine.
//!
//! - [`state`]: the chain's rules as a pure state machine: no IO, no clock, no randomness.
//! - [`node`]: CheckTx state, mempool and block building, pure as well.
//! - [`server`]: gRPC, CometBFT RPC and WebSocket over them, as a real node serves them.

#![allow(missing_docs)]

pub mod node;
pub mod server;
pub mod state;
