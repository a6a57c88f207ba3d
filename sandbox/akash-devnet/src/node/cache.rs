//! The digests of transactions that were seen lately.

use std::collections::{BTreeMap, HashMap};

use super::merkle::Hash;

/// Remembers a number of digests; the one not seen for longest is forgotten first.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    capacity: usize,
    turn: u64,
    seen: HashMap<Hash, u64>,
    order: BTreeMap<u64, Hash>,
}

impl Cache {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, turn: 0, seen: HashMap::new(), order: BTreeMap::new() }
    }

    /// Remembers a digest; whether it was new.
    pub(super) fn insert(&mut self, hash: Hash) -> bool {
        self.turn += 1;
        let before = self.seen.insert(hash, self.turn);
        if let Some(turn) = before {
            self.order.remove(&turn);
        }
        self.order.insert(self.turn, hash);
        if self.seen.len() > self.capacity
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.seen.remove(&oldest);
        }
        before.is_none()
    }

    pub(super) fn remove(&mut self, hash: &Hash) {
        if let Some(turn) = self.seen.remove(hash) {
            self.order.remove(&turn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_seen_is_forgotten_first() {
        let mut cache = Cache::new(2);
        assert!(cache.insert([1; 32]));
        assert!(cache.insert([2; 32]));
        assert!(!cache.insert([1; 32]), "known, and now the newest");
        assert!(cache.insert([3; 32]), "pushes out 2");
        assert!(!cache.insert([1; 32]));
        assert!(cache.insert([2; 32]));
    }

    #[test]
    fn what_was_removed_is_new_again() {
        let mut cache = Cache::new(2);
        cache.insert([1; 32]);
        cache.remove(&[1; 32]);
        assert!(cache.insert([1; 32]));
    }
}
