//! JSON of a node into typed values.
//!
//! - `results`: the answer of `block_results`, in one pass over borrowed text; events that nobody
//!   wants are skipped without being kept.
//! - `event`: a typed event from its attributes.
//! - `frame`: a frame of the WebSocket.
//!
//! Nothing that a node sends is an error here beyond its shape: an event that cannot be read is
//! counted and left out, because a tenant may have put it there.

mod event;
mod frame;
mod results;

pub use frame::{Frame, read_frame};
pub(super) use results::Results;
pub use results::read_results;

#[cfg(test)]
mod tests;
