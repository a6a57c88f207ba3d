//! Conversions between these types and the messages of `akash-proto`.
//!
//! From a message is `TryFrom`, and an error says where in the message it is. Into a message is
//! `From`. As in Go, an absent sub-message reads as its default value and an empty number as 0; an
//! absent id or coin is an error, because it has no default.

mod bid;
mod deployment;
mod error;
mod escrow;
mod id;
mod lease;
mod money;
mod params;
mod placement;
mod provider;
mod resources;

pub use error::{ConvertError, ConvertProblem};

#[cfg(test)]
mod tests;
