//! The transaction lane of `akash-chain` on a devnet, over real sockets.

mod bursts;
mod faults;
mod money;
mod support;
