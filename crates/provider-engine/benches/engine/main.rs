//! How fast the engine decides, and what it costs to keep.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod evaluate;
mod leases;
#[allow(dead_code, reason = "the tests of the whole engine use more of it")]
#[path = "../../tests/engine/world.rs"]
mod world;

use figures::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() {
    evaluate::run();
    leases::run();
}
