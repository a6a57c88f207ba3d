//! What the consumer gets: each height once, in order, or word that heights are left out.

use std::time::Duration;

use super::Plan;
use super::input::{Effect, Resync, ResyncReason};
use super::window::Part;
use crate::follow::status::Unusable;

impl<B> Plan<B> {
    /// Whether [`super::Input::Room`] would bring something.
    pub fn is_ready(&self) -> bool {
        self.pending.is_some() || self.window.front().is_some_and(|slot| slot.is_complete())
    }

    pub(super) fn on_room(&mut self, out: &mut Vec<Effect<B>>) {
        if let Some(resync) = self.pending.take() {
            self.cursor = Some(resync.to);
            self.resyncing = Some(resync);
            self.window.restart(resync.to.saturating_add(1));
            return out.push(Effect::Resync(resync));
        }
        let Some((header, block)) = self.window.take() else { return };
        self.cursor = Some(header.height);
        self.resyncing = None;
        self.last_block_time = Some(header.time);
        self.pulse.beat(header.height, header.time);
        self.known.push(header.height, header.hash);
        out.push(Effect::Deliver { header, block });
    }

    /// A block is ready only if it follows the one before. If it does not, whoever gave it is on
    /// another branch.
    pub(super) fn check_link(&mut self, now: Duration) {
        let Some(front) = self.window.front().filter(|slot| slot.is_complete()) else { return };
        let Part::Here { node, value: header } = &front.header else { return };
        let (node, previous, height) = (*node, header.previous, header.height);
        let Some((known, hash)) = self.known.newest() else { return };
        if known.checked_add(1) == Some(height) && previous != Some(hash) {
            self.blame(now, node, Unusable::Forked { height: known });
            // Results cannot be told apart by branch: they are fetched again as well.
            self.window.forget_front();
        }
    }

    /// Where to begin, if nobody said.
    pub(super) fn begin(&mut self) {
        if self.cursor.is_none() {
            let best = self.best();
            if best > 0 {
                self.cursor = Some(best - 1);
                self.window.restart(best);
            }
        }
    }

    /// Whether heights have to be left out.
    pub(super) fn look_for_gap(&mut self) {
        let Some(cursor) = self.cursor.filter(|_| self.pending.is_none()) else { return };
        let (best, from) = (self.best(), cursor.saturating_add(1));
        if best < from {
            return;
        }
        let blocks = best - cursor;
        let reason = if blocks > self.config.max_gap {
            Some(ResyncReason::GapTooLarge { blocks })
        } else {
            self.lowest_left(best).filter(|lowest| *lowest > from).map(|lowest| {
                // To the head in any case: the state that is asked for instead is that new.
                ResyncReason::Pruned { lowest }
            })
        };
        if let Some(reason) = reason {
            self.pending = Some(Resync { from, to: best, reason });
        }
    }

    /// The lowest height that any usable node has.
    fn lowest_left(&self, best: u64) -> Option<u64> {
        let usable = self.nodes.iter().filter(|node| node.is_usable(best, self.config.max_lag));
        usable.map(super::node::Node::lowest).min()
    }
}
