//! What will happen when.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::simulation::dice::Dice;

/// Events in the order of their moments. Which of several at one moment comes first is chance.
#[derive(Debug)]
pub(super) struct Queue<E> {
    events: BTreeMap<(Duration, u64, u64), E>,
    dice: Dice,
    next: u64,
}

impl<E> Queue<E> {
    pub(super) const fn new(dice: Dice) -> Self {
        Self { events: BTreeMap::new(), dice, next: 0 }
    }

    pub(super) fn at(&mut self, moment: Duration, event: E) {
        let tie = self.dice.next();
        self.next += 1;
        self.events.insert((moment, tie, self.next), event);
    }

    pub(super) fn any(&self, is: impl Fn(&E) -> bool) -> bool {
        self.events.values().any(is)
    }

    pub(super) fn pop(&mut self) -> Option<(Duration, E)> {
        self.events.pop_first().map(|((moment, ..), event)| (moment, event))
    }
}
