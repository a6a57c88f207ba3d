//! Requests whose answer is awaited.

use std::collections::BTreeMap;

use super::timers::Timers;
use crate::time::Now;

/// At most one request per key, each under a number that only its answer carries: an answer that
/// comes twice, or to a request that was sent anew, belongs to nothing.
#[derive(Clone, Debug)]
pub(crate) struct InFlight<K, T> {
    last: u64,
    by_key: BTreeMap<K, Request<T>>,
    by_number: BTreeMap<u64, K>,
    /// When each is sent again, because its answer was lost or was a failure.
    again: Timers<Now, K>,
}

#[derive(Clone, Debug)]
pub(crate) struct Request<T> {
    number: u64,
    pub(crate) failures: u32,
    pub(crate) item: T,
}

impl<K, T> Default for InFlight<K, T> {
    fn default() -> Self {
        Self {
            last: 0,
            by_key: BTreeMap::new(),
            by_number: BTreeMap::new(),
            again: Timers::default(),
        }
    }
}

impl<K: Clone + Ord, T> InFlight<K, T> {
    /// Begins a request, in place of one under the same key.
    pub(crate) fn begin(&mut self, key: K, item: T) -> u64 {
        self.remove(&key);
        let number = self.number(&key);
        self.by_key.insert(key, Request { number, failures: 0, item });
        number
    }

    pub(crate) fn get(&self, key: &K) -> Option<&Request<T>> {
        self.by_key.get(key)
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut Request<T>> {
        self.by_key.get_mut(key)
    }

    pub(crate) fn contains(&self, key: &K) -> bool {
        self.by_key.contains_key(key)
    }

    pub(crate) fn number_of(&self, key: &K) -> Option<u64> {
        self.get(key).map(|request| request.number)
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = (&K, u64)> {
        self.by_key.iter().map(|(key, request)| (key, request.number))
    }

    /// The key of the request that an answer belongs to. It stays in flight until it is removed.
    pub(crate) fn answered(&mut self, number: u64) -> Option<K> {
        self.by_number.remove(&number)
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<T> {
        let request = self.by_key.remove(key)?;
        self.by_number.remove(&request.number);
        self.again.clear(key);
        Some(request.item)
    }

    pub(crate) fn again_at(&mut self, key: K, moment: Now) {
        self.again.set(key, moment);
    }

    /// The next request that is sent again by now, under its new number.
    pub(crate) fn pop_due(&mut self, now: Now) -> Option<(u64, K)> {
        let key = self.again.pop(now)?;
        let number = self.number(&key);
        let request = self.by_key.get_mut(&key)?;
        self.by_number.remove(&request.number);
        request.number = number;
        Some((number, key))
    }

    pub(crate) fn next_due(&self) -> Option<Now> {
        self.again.next()
    }

    fn number(&mut self, key: &K) -> u64 {
        self.last = self.last.wrapping_add(1);
        self.by_number.insert(self.last, key.clone());
        self.last
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_the_answer_to_the_newest_request_counts_and_only_once() {
        let mut flight = InFlight::default();
        let first = flight.begin("a", 1);
        let later = Now::default().after(Duration::from_secs(1));
        flight.again_at("a", later);
        assert_eq!((flight.next_due(), flight.pop_due(Now::default())), (Some(later), None));
        let (second, _) = flight.pop_due(later).unwrap();
        assert_eq!((flight.answered(first), flight.answered(second)), (None, Some("a")));
        assert_eq!(flight.answered(second), None);
        assert_eq!((flight.number_of(&"a"), flight.remove(&"a")), (Some(second), Some(1)));
        let third = flight.begin("a", 2);
        let fourth = flight.begin("a", 3);
        assert_eq!((flight.answered(third), flight.answered(fourth)), (None, Some("a")));
        flight.remove(&"a");
        assert!(flight.by_number.is_empty() && !flight.contains(&"a"));
    }
}
