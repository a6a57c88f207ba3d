//! CometBFT's WebSocket: every method of JSON-RPC, and subscriptions to events.

mod frames;
mod session;
mod subscriptions;
mod upgrade;

pub(super) use subscriptions::Clients;
pub(super) use upgrade::upgrade;
