//! What was asked for and not answered yet.

use std::collections::BTreeMap;

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
