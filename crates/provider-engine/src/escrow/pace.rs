//! How many blocks a time is, and how to spread things over them.
//!
//! Money is earned per block, and while the chain stands still nothing is. So what the operator
//! says in hours is counted in blocks, at the pace that the chain itself shows.

use std::hash::{Hash, Hasher};
use std::time::Duration;

use crate::chain::Head;

/// Blocks between two measurements.
const SAMPLE: u64 = 100;

/// How fast blocks come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    per_block: Duration,
    anchor: Option<Head>,
}

impl Default for Pace {
    /// 6.5 s, the average that the network's own tools assume.
    fn default() -> Self {
        Self { per_block: Duration::from_millis(6_500), anchor: None }
    }
}

impl Pace {
    /// Looks at a new head.
    pub(super) fn see(&mut self, head: Head) {
        let Some(anchor) = self.anchor else {
            self.anchor = Some(head);
            return;
        };
        let blocks = head.height.saturating_sub(anchor.height);
        if blocks < SAMPLE {
            return;
        }
        let elapsed = head.time.since(anchor.time);
        let per_block = elapsed / u32::try_from(blocks).unwrap_or(u32::MAX);
        // A chain that stood still, or a replay of old blocks, says little about the next ones.
        self.per_block = per_block.clamp(self.per_block / 2, self.per_block * 2);
        self.per_block = self.per_block.clamp(Duration::from_millis(100), Duration::from_secs(60));
        self.anchor = Some(head);
    }

    /// How many blocks `time` is, at least one.
    pub(super) fn blocks(&self, time: Duration) -> u64 {
        let blocks = time.as_millis() / self.per_block.as_millis().max(1);
        u64::try_from(blocks).unwrap_or(u64::MAX).max(1)
    }
}

/// A number that belongs to `id`: the same in every run, different for different ids.
pub(super) fn seed(id: &impl Hash) -> u64 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    id.hash(&mut hasher);
    // The low bits of the sum are the weakest.
    hasher.finish() ^ (hasher.finish() >> 32)
}

/// FNV-1a; the standard library's hasher may change with its version.
struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
