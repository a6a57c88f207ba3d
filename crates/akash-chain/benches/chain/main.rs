//! What the chain client does under load, each part in its own file.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench"
)]

mod follow;
mod lane;
mod market;
mod node;
#[path = "../../tests/it/follow/orders.rs"]
mod orders;

fn main() {
    // The node is a process of its own, so that its work is not counted as ours.
    if std::env::args().any(|word| word == node::WORD) {
        node::serve();
    } else {
        follow::run();
        lane::run();
    }
}
