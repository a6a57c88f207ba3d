//! Every decision of a provider, as a machine without IO.
//!
//! Nothing in this crate reads a clock, draws a number, waits or talks to anybody: it is given
//! what happened and says what to do. Its dependency tree holds no runtime and no network, which
//! the test command checks.

pub mod bidding;
pub mod cluster;
pub mod inventory;
pub mod manifest;
pub mod escrow;
pub mod reconcile;
pub mod time;
