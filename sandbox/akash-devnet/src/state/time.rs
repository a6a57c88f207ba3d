//! Times of messages against the time of the block.

use prost_types::Timestamp;

use super::run::BlockInfo;

/// Whether a time, where one is set, is before the block's.
pub(crate) fn is_over(time: Option<&Timestamp>, block: BlockInfo) -> bool {
    time.is_some_and(|time| nanos(time) < i128::from(block.time_unix_nanos))
}

/// Whether a time, where one is set, is not after the block's.
pub(crate) fn is_reached(time: Option<&Timestamp>, block: BlockInfo) -> bool {
    time.is_some_and(|time| nanos(time) <= i128::from(block.time_unix_nanos))
}

fn nanos(time: &Timestamp) -> i128 {
    i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanos)
}
