//! What is to be looked at when.

use std::collections::{BTreeMap, BTreeSet};

/// Things due at moments of one clock. A thing has one moment at most: the newest one set.
#[derive(Clone, Debug)]
pub(crate) struct Timers<M, T> {
    by_moment: BTreeSet<(M, T)>,
    by_thing: BTreeMap<T, M>,
}

impl<M, T> Default for Timers<M, T> {
    fn default() -> Self {
        Self { by_moment: BTreeSet::new(), by_thing: BTreeMap::new() }
    }
}

impl<M: Copy + Ord, T: Clone + Ord> Timers<M, T> {
    /// `thing` is due at `moment`, and at no other.
    pub(crate) fn set(&mut self, thing: T, moment: M) {
        self.clear(&thing);
        self.by_moment.insert((moment, thing.clone()));
        self.by_thing.insert(thing, moment);
    }

    /// `thing` is due at `moment` unless it is due already, whenever.
    pub(crate) fn set_if_unset(&mut self, thing: T, moment: M) {
        if !self.by_thing.contains_key(&thing) {
            self.set(thing, moment);
        }
    }

    /// Whether `thing` is due at some moment.
    pub(crate) fn is_set(&self, thing: &T) -> bool {
        self.by_thing.contains_key(thing)
    }

    /// `thing` is no longer due.
    pub(crate) fn clear(&mut self, thing: &T) {
        if let Some(moment) = self.by_thing.remove(thing) {
            self.by_moment.remove(&(moment, thing.clone()));
        }
    }

    /// The next thing that is due by `moment`, which it then is no longer.
    pub(crate) fn pop(&mut self, moment: M) -> Option<T> {
        let (due, _) = self.by_moment.first()?;
        if *due > moment {
            return None;
        }
        let (_, thing) = self.by_moment.pop_first()?;
        self.by_thing.remove(&thing);
        Some(thing)
    }

    /// When the next thing is due.
    pub(crate) fn next(&self) -> Option<M> {
        self.by_moment.first().map(|(moment, _)| *moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_is_due_once_at_its_newest_moment() {
        let mut timers = Timers::default();
        timers.set("a", 5);
        timers.set("a", 3);
        timers.set("b", 4);
        timers.set_if_unset("b", 1);
        assert_eq!(timers.next(), Some(3));
        assert_eq!(timers.pop(2), None);
        assert_eq!(timers.pop(9), Some("a"));
        timers.clear(&"b");
        assert_eq!(timers.pop(9), None);
    }
}
