//! How fast intents come into blocks. See `lane.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench"
)]

mod lane;
mod market;
mod node;

fn main() {
    // The node is a process of its own, so that its work is not counted as ours.
    if std::env::args().any(|word| word == node::WORD) {
        node::serve();
    } else {
        lane::run();
    }
}
