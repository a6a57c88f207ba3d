//! Ordered tables that are cheap to copy.
//!
//! A table is a persistent tree: a copy shares everything with its original, and a change copies
//! only the few nodes on the way to it. So a transaction runs on a copy of all tables, a failed one
//! is undone by dropping that copy, and a second state (for CheckTx, or of an older height) costs
//! next to nothing.

use std::ops::Bound;

use rpds::RedBlackTreeMapSync;

/// An ordered map from `K` to `V` whose copies are cheap.
pub(crate) struct Table<K: Ord, V>(RedBlackTreeMapSync<K, V>);

impl<K: Ord, V> Clone for Table<K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: Ord, V> Default for Table<K, V> {
    fn default() -> Self {
        Self(RedBlackTreeMapSync::new_sync())
    }
}

impl<K: Ord + Clone, V: Clone> Table<K, V> {
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.0.get(key)
    }

    pub(crate) fn contains(&self, key: &K) -> bool {
        self.0.contains_key(key)
    }

    pub(crate) fn insert(&mut self, key: K, value: V) {
        self.0.insert_mut(key, value);
    }

    pub(crate) fn remove(&mut self, key: &K) {
        self.0.remove_mut(key);
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.0.iter()
    }

    /// Entries between two keys, both included; none where the second is before the first.
    pub(crate) fn between(
        &self,
        start: K,
        end: K,
    ) -> impl DoubleEndedIterator<Item = (&K, &V)> + use<'_, K, V> {
        let ordered = start <= end;
        ordered
            .then(|| self.0.range((Bound::Included(start), Bound::Included(end))))
            .into_iter()
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_does_not_see_later_changes() {
        let mut table = Table::default();
        table.insert(1, "one");
        let copy = table.clone();
        table.insert(2, "two");
        table.remove(&1);
        assert_eq!(copy.iter().collect::<Vec<_>>(), [(&1, &"one")]);
        assert_eq!(table.iter().collect::<Vec<_>>(), [(&2, &"two")]);
    }

    #[test]
    fn ranges_include_both_ends_and_run_both_ways() {
        let mut table = Table::default();
        for key in 0..10 {
            table.insert(key, ());
        }
        let keys = |start, end| table.between(start, end).map(|(key, ())| *key).collect::<Vec<_>>();
        assert_eq!(keys(3, 5), [3, 4, 5]);
        assert_eq!(keys(8, 20), [8, 9]);
        assert_eq!(keys(5, 3), [0; 0]);
        assert_eq!(table.between(3, 5).rev().map(|(key, ())| *key).collect::<Vec<_>>(), [5, 4, 3]);
    }
}
