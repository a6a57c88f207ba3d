//! Every decision of a provider, as a machine without IO.
//!
//! ```text
//! engine.handle(now, Input) -> Vec<Effect>
//! ```
//!
//! Nothing in this crate reads a clock, draws a number, waits or talks to anybody: it is given
//! what happened and says what to do. Its dependency tree holds no runtime and no network, which
//! the test command checks.
//!
//! - [`engine`] routes what happens to the lives that it concerns.
//! - [`order`], [`lease`], [`manifest`], [`escrow`]: what follows, for each.
//! - [`inventory`]: what is free, and where something fits.
//! - [`reconcile`]: where views disagree, and when destruction stops.
//! - [`journal`]: what was decided, and why.
//! - [`chain`] and [`cluster`]: the world, as far as decisions need it.

#![allow(missing_docs)]

pub mod chain;
#[warn(missing_docs)]
pub mod cluster;
pub mod effect;
pub mod engine;
pub mod escrow;
mod few;
pub mod input;
pub mod inventory;
pub mod journal;
pub mod lease;
pub mod manifest;
pub mod order;
pub mod reconcile;
pub mod settings;
pub mod time;

pub use effect::{Effect, Fact, Reply};
pub use engine::Engine;
pub use input::{Block, Input, OperatorRequest, Received, RequestId, TenantRequest, TxEnd};
pub use settings::Settings;
