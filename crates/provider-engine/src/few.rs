//! A map for a handful of entries, of which there are very many.
//!
//! A B-tree sets aside room for eleven entries at once; with thousands of maps of one entry each,
//! that room is most of the memory.

/// Entries in the order of their keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Few<K, V>(Vec<(K, V)>);

impl<K, V> Default for Few<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord, V> Few<K, V> {
    fn place(&self, key: &K) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.cmp(key))
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.0.get(self.place(key).ok()?).map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let place = self.place(key).ok()?;
        self.0.get_mut(place).map(|(_, value)| value)
    }

    pub(crate) fn contains_key(&self, key: &K) -> bool {
        self.place(key).is_ok()
    }

    /// Replaces the value of a key that is there; says whether it was.
    pub(crate) fn insert(&mut self, key: K, value: V) -> bool {
        match self.place(&key) {
            Ok(place) => {
                if let Some((_, known)) = self.0.get_mut(place) {
                    *known = value;
                }
                true
            }
            Err(place) => {
                self.0.reserve_exact(1);
                self.0.insert(place, (key, value));
                false
            }
        }
    }

    pub(crate) fn remove(&mut self, key: &K) -> bool {
        let place = self.place(key);
        if let Ok(place) = place {
            self.0.remove(place);
        }
        place.is_ok()
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.0.retain_mut(|(key, value)| keep(key, value));
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn first_key(&self) -> Option<&K> {
        self.0.first().map(|(key, _)| key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.0.iter_mut().map(|(key, value)| (&*key, value))
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Few<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut few = Self::default();
        for (key, value) in entries {
            few.insert(key, value);
        }
        few
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_map(steps in proptest::collection::vec((0_u8..8, any::<u8>(), any::<bool>()), 0..40)) {
            let (mut few, mut map) = (Few::default(), BTreeMap::new());
            for (key, value, add) in steps {
                if add {
                    prop_assert_eq!(few.insert(key, value), map.insert(key, value).is_some());
                } else {
                    prop_assert_eq!(few.remove(&key), map.remove(&key).is_some());
                }
                prop_assert!(few.iter().eq(map.iter()));
                prop_assert_eq!(few.get(&key), map.get(&key));
                prop_assert_eq!(few.contains_key(&key), map.contains_key(&key));
                prop_assert_eq!(few.first_key(), map.keys().next());
                prop_assert!(few.values().eq(map.values()));
            }
            few.retain(|key, value| *key % 2 == 0 && *value > 9);
            map.retain(|key, value| *key % 2 == 0 && *value > 9);
            prop_assert!(few.iter_mut().map(|(key, value)| (*key, *value)).eq(map.clone()));
            prop_assert!(map.into_iter().collect::<Few<_, _>>().iter().eq(few.iter()));
        }
    }
}
