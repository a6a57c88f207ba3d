//! What benchmarks measure with and how they print it. Never part of the product.
//!
//! Every benchmark of the project prints its figures one per line, as `name: value unit`, so that
//! people and programs can compare them. Times are medians over many short batches: one machine,
//! shared with who knows what, gives no better number.

mod count;

use std::fmt::Display;
use std::hint::black_box;
use std::time::{Duration, Instant};

pub use count::CountingAllocator;

#[allow(clippy::print_stdout)]
pub fn print(name: &str, value: impl Display, unit: &str) {
    println!("{name}: {value} {unit}");
}

/// The median time of one call, over at least `total` of measuring.
pub fn time<T>(total: Duration, mut call: impl FnMut() -> T) -> Duration {
    const BATCHES: usize = 31;
    let once = {
        let start = Instant::now();
        black_box(call());
        start.elapsed()
    };
    let per_batch = total / BATCHES as u32;
    let calls = (per_batch.as_nanos() / once.as_nanos().max(1)).clamp(1, 1_000_000) as u32;
    // One batch to warm caches and the branch predictor.
    for _ in 0..calls {
        black_box(call());
    }
    let mut batches: Vec<Duration> = (0..BATCHES)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..calls {
                black_box(call());
            }
            start.elapsed() / calls
        })
        .collect();
    batches.sort_unstable();
    batches.get(BATCHES / 2).copied().unwrap_or_default()
}

/// Microseconds with two decimals, as figures show times.
pub fn micros(time: Duration) -> String {
    format!("{:.2}", time.as_nanos() as f64 / 1000.0)
}

/// Bytes on the heap. Needs [`CountingAllocator`] as the program's allocator.
pub fn heap() -> u64 {
    count::live()
}

/// How many allocations one call makes, and how many bytes they ask for. Needs
/// [`CountingAllocator`] as the program's allocator.
pub fn allocations<T>(mut call: impl FnMut() -> T) -> (u64, u64) {
    black_box(call());
    let before = count::so_far();
    let value = call();
    let after = count::so_far();
    drop(black_box(value));
    (after.0 - before.0, after.1 - before.1)
}
