//! Queries, transactions and the block follower, over real sockets and against recordings.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stderr
)]

mod chaos;
mod follow;
mod lane_recorded;
mod query_faults;
mod query_paging;
mod query_recorded;
mod query_support;
mod tx_broadcast;
mod tx_messages;
mod tx_recorded;
mod tx_support;
