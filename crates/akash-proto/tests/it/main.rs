//! Generated messages against descriptors and recordings.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

mod common;
mod descriptors;
mod hostile_bytes;
mod recorded_queries;
mod recorded_txs;
