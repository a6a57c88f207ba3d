//! How fast the engine decides.
#![allow(clippy::unwrap_used)]

mod evaluate;

use figures::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() {
    evaluate::run();
}
