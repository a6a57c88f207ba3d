//! A bounded memory of answers.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::time::{Duration, Instant};

/// The newest answers, each with the moment it was given. Knows no clock: `now` is given.
///
/// Bounded, because strangers choose the questions.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    room: usize,
    answers: HashMap<K, (V, Instant)>,
    /// Keys in the order they came, oldest first; each once.
    order: VecDeque<K>,
}

impl<K: Clone + Eq + Hash, V: Clone> Recent<K, V> {
    pub(super) fn new(room: usize) -> Self {
        Self { room: room.max(1), answers: HashMap::new(), order: VecDeque::new() }
    }

    /// The answer, if it is not older than `age`.
    pub(super) fn get(&self, key: &K, now: Instant, age: Duration) -> Option<V> {
        let (value, at) = self.answers.get(key)?;
        (now.saturating_duration_since(*at) <= age).then(|| value.clone())
    }

    /// Forgets an answer.
    pub(super) fn forget(&mut self, key: &K) {
        if self.answers.remove(key).is_some() {
            self.order.retain(|other| other != key);
        }
    }

    /// Remembers an answer; forgets the one that came first where there is no room.
    pub(super) fn put(&mut self, key: K, value: V, now: Instant) {
        if self.answers.insert(key.clone(), (value, now)).is_none() {
            self.order.push_back(key);
        }
        while self.order.len() > self.room {
            if let Some(oldest) = self.order.pop_front() {
                self.answers.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_age_and_the_first_make_room_for_the_last() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let age = Duration::from_secs(5);
        let mut recent = Recent::new(2);
        recent.put('a', 1, at(0));
        assert_eq!(recent.get(&'a', at(5), age), Some(1));
        assert_eq!(recent.get(&'a', at(6), age), None);
        recent.put('a', 2, at(6));
        recent.put('b', 3, at(6));
        recent.put('c', 4, at(6));
        assert_eq!(recent.get(&'a', at(6), age), None);
        assert_eq!(recent.get(&'b', at(6), age), Some(3));
        assert_eq!(recent.get(&'c', at(6), age), Some(4));
        assert_eq!((recent.answers.len(), recent.order.len()), (2, 2));
        recent.forget(&'b');
        assert_eq!(recent.get(&'b', at(6), age), None);
        assert_eq!((recent.answers.len(), recent.order.len()), (1, 1));
    }
}
