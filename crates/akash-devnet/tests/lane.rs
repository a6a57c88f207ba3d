//! The transaction lane of `akash-chain` on a devnet, over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

#[path = "lane/bursts.rs"]
mod bursts;
#[path = "lane/faults.rs"]
mod faults;
#[path = "lane/money.rs"]
mod money;
#[path = "lane/support.rs"]
mod support;
