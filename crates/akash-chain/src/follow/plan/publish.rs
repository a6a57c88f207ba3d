//! What others see of the plan.

use std::time::Duration;

use super::Plan;
use super::input::Effect;
use super::node::Node;
use crate::follow::status::{FollowStatus, Health, NodeHealth, Unusable};

/// While blocks stream by, how far things are is published no more often than this.
const PROGRESS: Duration = Duration::from_millis(100);

impl<B> Plan<B> {
    /// How things are.
    pub fn status(&self, now: Duration) -> FollowStatus {
        let best = self.best();
        // Without a node to ask, the last that was heard of is the best guess.
        let is_known = self.nodes.iter().any(Node::is_sound);
        let head = if is_known { best } else { best.max(self.head_seen.0) };
        let lag = head.saturating_sub(self.cursor.unwrap_or(head));
        let head = Some(head).filter(|height| *height > 0);
        FollowStatus {
            cursor: self.cursor,
            head,
            lag,
            last_block_time: self.last_block_time,
            head_seen: head.map(|_| self.head_seen.1),
            block_time: self.pulse.block_time(),
            stalled: self.stalls_at() <= now,
            subscribed: self.nodes.iter().any(|node| node.subscription.is_up()),
            resync: self.pending.or(self.resyncing),
            nodes: self.nodes.iter().map(|node| self.health(node, best)).collect(),
        }
    }

    fn health(&self, node: &Node, best: u64) -> NodeHealth {
        let health = match &node.fault {
            Some(fault) => Health::Unusable(fault.clone()),
            None if !node.is_verified => Health::Unknown,
            None if node.is_usable(best, self.config.max_lag) => Health::Usable,
            None => Health::Unusable(Unusable::Lagging { height: node.height, best }),
        };
        let subscribed = node.subscription.is_up();
        NodeHealth { name: node.name.clone(), height: node.height, subscribed, health }
    }

    /// When the chain counts as stalled, if nothing is heard until then.
    fn stalls_at(&self) -> Duration {
        let wait = self.pulse.block_time().saturating_mul(self.config.stall_after);
        self.head_seen.1.saturating_add(wait)
    }

    pub(super) fn see_head(&mut self, now: Duration) {
        let best = self.best();
        if best > self.head_seen.0 {
            self.head_seen = (best, now);
        }
    }

    pub(super) fn publish(&mut self, now: Duration, out: &mut Vec<Effect<B>>) {
        let status = self.status(now);
        if status == self.published {
            return;
        }
        let is_progress = !status.differs_beyond_progress(&self.published);
        if is_progress && status.lag > 0 && now < self.published_at.saturating_add(PROGRESS) {
            return;
        }
        self.published = status.clone();
        self.published_at = now;
        out.push(Effect::Publish(status));
    }

    /// When there is next something to publish.
    pub(super) fn publish_next(&self, now: Duration) -> Option<Duration> {
        let stall = Some(self.stalls_at()).filter(|at| *at > now);
        let unseen = self.published.cursor != self.cursor;
        let progress = unseen.then(|| self.published_at.saturating_add(PROGRESS));
        [stall, progress].into_iter().flatten().min()
    }
}
