//! What the chain client does under load, each part in its own file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod follow;
#[path = "../../tests/follow/orders.rs"]
mod orders;

fn main() {
    follow::run();
}
