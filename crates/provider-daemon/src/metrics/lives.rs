//! What is remembered of each order and lease, so that each thing is counted once.

use std::collections::BTreeMap;

use akash_types::OrderId;
use provider_engine::bidding::order::CloseCause;
use provider_engine::time::Now;

/// Orders and leases that are looked after.
#[derive(Debug, Default)]
pub(super) struct Lives(BTreeMap<OrderId, Known>);

#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Height of the newest block when it was noticed.
    pub(super) height: u64,
    pub(super) since: Now,
    /// Whether capacity is kept for it.
    pub(super) reserved: bool,
    /// Whether a bid of ours was made, or found, by this process.
    pub(super) bid: bool,
    /// Why our bid was closed.
    pub(super) closed: Option<CloseCause>,
    pub(super) lease: bool,
    pub(super) watched: bool,
}

impl Lives {
    /// Says whether it is new.
    pub(super) fn notice(&mut self, order: OrderId, height: u64, since: Now) -> bool {
        let known = Known {
            height,
            since,
            reserved: false,
            bid: false,
            closed: None,
            lease: false,
            watched: false,
        };
        match self.0.entry(order) {
            std::collections::btree_map::Entry::Occupied(_) => false,
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(known);
                true
            }
        }
    }

    pub(super) fn get(&mut self, order: OrderId) -> Option<&mut Known> {
        self.0.get_mut(&order)
    }

    pub(super) fn end(&mut self, order: OrderId) -> Option<Known> {
        self.0.remove(&order)
    }

    pub(super) fn noticed_height(&self, order: OrderId) -> Option<u64> {
        self.0.get(&order).map(|known| known.height)
    }
}

/// More than this is forgotten, oldest first: some questions are never answered.
const MOST: usize = 16_384;

/// Things under way, by an id that grows.
#[derive(Debug)]
pub(super) struct Pending<K, V>(BTreeMap<K, V>);

impl<K, V> Default for Pending<K, V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord, V> Pending<K, V> {
    pub(super) fn begin(&mut self, id: K, what: V) {
        if self.0.len() >= MOST {
            self.0.pop_first();
        }
        self.0.insert(id, what);
    }

    pub(super) fn end(&mut self, id: &K) -> Option<V> {
        self.0.remove(id)
    }
}
