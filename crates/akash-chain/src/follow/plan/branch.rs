//! When the chain itself went back, and another branch is the one that counts.
//!
//! What was delivered is final on this kind of chain, so a node that has something else is not
//! believed. But if all have something else and time passes, the chain was taken back by those
//! who run it, and holding on to a branch that nobody has would be deafness. Heights do not go back
//! for that: the consumer is told to look at the state once the new branch is past the old one.

use std::time::Duration;

use super::Plan;
use super::input::{Resync, ResyncReason};
use super::node::Node;
use crate::follow::status::Unusable;

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
