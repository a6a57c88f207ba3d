//! The only Cosmos and CometBFT client of the project.
//!
//! - [`follow`]: every block, once and in order, with its events typed.
//! - [`query`]: what the chain knows, asked over gRPC or `abci_query`, typed and complete.
//! - [`transport`]: how a node is reached, and what its refusals mean.
//! - [`tx`]: messages into signed transactions, simulated and broadcast.
//!
//! Nothing here knows what a provider does with the answers.

pub mod follow;
pub mod query;
pub mod transport;
pub mod tx;
