//! The node on the network: gRPC, the same as REST, CometBFT's JSON-RPC and its WebSocket, as a real
//! node serves them.
//!
//! ```text
//! clients ─► listen ─► rpc ─┬─► services ─► View (a snapshot: history, states, check state)
//!              │       ws  ─┤                 ▲ published after every change
//!              │       lcd ─┤                 │
//!              └────► grpc ─┘                 │
//!                       └──── Command ──► task: owns node and store, makes blocks in time
//! ```
//!
//! One task owns the node and is the only one to change it. Everyone else reads snapshots, so a long
//! query holds nobody up. Nothing here may know the chain's rules: whatever a transaction or a query
//! means is the business of the state below.

mod context;
mod faucet;
mod faults;
mod grpc;
mod lcd;
mod listen;
mod rpc;
mod services;
mod start;
mod store;
mod task;
mod ws;

pub use faults::{Failing, Faults, Plan};
pub use start::{Config, Devnet, DevnetError, FaucetConfig};
pub use store::{Progress, StoreError};

/// Reads a body as a node does that is asked by JSON-RPC, and a text as the query of a URL.
#[cfg(fuzzing)]
pub fn read_rpc(body: &[u8]) {
    rpc::read_rpc(body);
}

#[cfg(test)]
mod tests;
