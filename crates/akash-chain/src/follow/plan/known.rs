//! Hashes of the newest blocks that were delivered: how a node on another branch is told.

use std::collections::VecDeque;
use std::time::Duration;

use super::Plan;
use super::input::{Resync, ResyncReason};
use super::node::Node;
use crate::follow::status::Unusable;
use crate::query::BlockHash;

/// How many are remembered: more than any node lags and is still asked.
const MOST: usize = 256;

#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// By height; with a gap where blocks were left out.
    hashes: VecDeque<(u64, BlockHash)>,
}

impl Known {
    pub(super) fn push(&mut self, height: u64, hash: BlockHash) {
        if self.hashes.len() >= MOST {
            self.hashes.pop_front();
        }
        self.hashes.push_back((height, hash));
    }

    pub(super) fn forget(&mut self) {
        self.hashes.clear();
    }

    pub(super) fn newest(&self) -> Option<(u64, BlockHash)> {
        self.hashes.back().copied()
    }

    pub(super) fn get(&self, height: u64) -> Option<BlockHash> {
        let index = self.hashes.binary_search_by_key(&height, |(height, _)| *height).ok()?;
        self.hashes.get(index).map(|(_, hash)| *hash)
    }

    /// Whether a block of this hash contradicts what was delivered.
    pub(super) fn contradicts(&self, height: u64, hash: BlockHash) -> bool {
        self.get(height).is_some_and(|known| known != hash)
    }
}

impl<B> Plan<B> {
    /// Whether to go on with another branch.
    pub(super) fn look_for_branch(&mut self, now: Duration) {
        let Some(cursor) = self.cursor.filter(|_| self.pending.is_none()) else { return };
        let forked = |node: &Node| matches!(node.fault, Some(Unusable::Forked { .. }));
        // Whoever says nothing may have what was delivered.
        if !self.nodes.iter().all(forked) {
            self.branch_lost = None;
            return;
        }
        let height = self.nodes.iter().map(|node| node.height).max().unwrap_or(0);
        let since = *self.branch_lost.get_or_insert(now);
        if height <= cursor || now.saturating_sub(since) < self.branch_patience() {
            return;
        }
        let from = cursor.saturating_add(1);
        self.pending = Some(Resync { from, to: height, reason: ResyncReason::OtherBranch });
        self.branch_lost = None;
        // Nothing that was delivered says any more who is right.
        self.known.forget();
        for node in &mut self.nodes {
            (node.failures, node.next_ask) = (0, now);
        }
    }

    pub(super) fn branch_next(&self, now: Duration) -> Option<Duration> {
        let due = self.branch_lost?.saturating_add(self.branch_patience());
        Some(due).filter(|due| *due > now)
    }

    fn branch_patience(&self) -> Duration {
        self.pulse.block_time().saturating_mul(self.config.other_branch_after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_are_remembered() {
        let mut known = Known::default();
        for height in 1..=1_000_u64 {
            known.push(height, BlockHash([u8::try_from(height % 251).unwrap(); 32]));
        }
        assert_eq!(known.newest().map(|(height, _)| height), Some(1_000));
        assert_eq!(known.get(1_000), Some(BlockHash([247; 32])));
        assert_eq!(known.get(1_000 - 255), Some(BlockHash([243; 32])));
        assert_eq!(known.get(1_000 - 256), None);
        assert_eq!(known.get(1_001), None);
        known.push(2_000, BlockHash([1; 32]));
        assert_eq!((known.get(2_000), known.get(1_500)), (Some(BlockHash([1; 32])), None));
        assert!(known.contradicts(999, BlockHash([0; 32])));
        assert!(!known.contradicts(1, BlockHash([9; 32])));
    }
}
