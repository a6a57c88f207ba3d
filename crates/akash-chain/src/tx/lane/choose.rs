//! Which intents go next, and together.

use std::collections::{BTreeMap, BTreeSet};

use akash_types::{Class, DeploymentId, IntentId, Touch};

use super::machine::Lane;
use super::queue::Entry;

/// Messages for one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    pub(super) class: Class,
    pub(super) intents: Vec<IntentId>,
    bytes: usize,
    cap: usize,
}

/// What a block may still take from us.
struct Room {
    gas: u64,
    bid_gas: u64,
    bytes: usize,
}

/// Bytes of a transaction beside its messages, generously.
const FRAME: usize = 512;

impl Lane {
    /// Fills what is left of a block: first what has waited too long, then bids within their share,
    /// then the rest. Bids leave a fifth of the block alone, also when nobody else waits: a close
    /// that comes a moment later must not stand behind a burst of them.
    pub(super) fn choose(&self) -> Vec<Batch> {
        let mut room = Room {
            gas: self.config.block_gas.saturating_sub(self.flights.gas()),
            bid_gas: self.config.bid_gas().saturating_sub(self.flights.bid_gas()),
            bytes: self.config.block_bytes.saturating_sub(self.flights.bytes()),
        };
        let in_flight = self.settled_in_flight();
        let mut in_round: BTreeMap<DeploymentId, Touch> = BTreeMap::new();
        let mut batches: Vec<Batch> = Vec::new();
        let mut open: BTreeMap<Class, usize> = BTreeMap::new();
        let is_late =
            |entry: &Entry| entry.since.saturating_add(self.config.promote_after) <= self.height;
        for entry in self.queue.in_order(is_late) {
            let touch = entry.intent.action.settles();
            if !self.may_go(entry) || conflicts(touch, &in_flight, &in_round) {
                continue;
            }
            let class = entry.intent.class;
            let size = self.batches.of(&self.config, class);
            let joins = open.get(&class).copied().filter(|&index| {
                batches.get(index).is_some_and(|batch| {
                    batch.intents.len() < size.min(batch.cap).min(entry.cap)
                        && batch.bytes.saturating_add(entry.bytes) <= self.config.tx_bytes
                })
            });
            let (message, tx) = self.gas.planned(self.config.gas, entry.kind());
            let gas = if joins.is_some() { message } else { message.saturating_add(tx) };
            let bytes = if joins.is_some() { entry.bytes } else { entry.bytes + FRAME };
            // What no block has room for is for the node to refuse.
            let only = batches.is_empty() && self.flights.is_empty();
            if !room.take(class, gas, bytes) && !only {
                continue;
            }
            if let Some((deployment, touch)) = touch {
                in_round.insert(deployment, touch);
            }
            match joins.and_then(|index| batches.get_mut(index)) {
                Some(batch) => batch.join(entry),
                None => {
                    open.insert(class, batches.len());
                    batches.push(Batch::of(entry));
                }
            }
        }
        batches
    }

    fn may_go(&self, entry: &Entry) -> bool {
        entry.not_before <= self.height
            && !self.full.contains(&entry.intent.class)
            && !self.holds.is_class_held(entry.intent.class, self.now)
            && self.queue.is_first_in_line(entry)
    }

    /// Deployments whose accounts transactions under way will settle.
    fn settled_in_flight(&self) -> BTreeSet<DeploymentId> {
        let intents = self.flights.iter().flat_map(|flight| &flight.intents);
        intents
            .filter_map(|id| self.queue.get(*id)?.intent.action.settles())
            .map(|(deployment, _)| deployment)
            .collect()
    }
}

/// Whether an action must not share a block with what goes before it, see [`Touch`].
fn conflicts(
    touch: Option<(DeploymentId, Touch)>,
    in_flight: &BTreeSet<DeploymentId>,
    in_round: &BTreeMap<DeploymentId, Touch>,
) -> bool {
    match touch {
        None => false,
        Some((deployment, Touch::Withdraws)) => {
            in_flight.contains(&deployment) || in_round.contains_key(&deployment)
        }
        // Behind a withdrawal in flight it has a higher sequence; within a round the order of
        // transactions is not that of the choice.
        Some((deployment, Touch::Settles)) => in_round.get(&deployment) == Some(&Touch::Withdraws),
    }
}

impl Room {
    fn take(&mut self, class: Class, gas: u64, bytes: usize) -> bool {
        let is_bid = class == Class::Bid;
        if gas > self.gas || bytes > self.bytes || (is_bid && gas > self.bid_gas) {
            return false;
        }
        self.gas -= gas;
        self.bytes -= bytes;
        if is_bid {
            self.bid_gas -= gas;
        }
        true
    }
}

impl Batch {
    fn of(entry: &Entry) -> Self {
        let mut batch =
            Self { class: entry.intent.class, intents: Vec::new(), bytes: FRAME, cap: usize::MAX };
        batch.join(entry);
        batch
    }

    fn join(&mut self, entry: &Entry) {
        self.intents.push(entry.intent.id);
        self.bytes = self.bytes.saturating_add(entry.bytes);
        self.cap = self.cap.min(entry.cap);
    }
}
