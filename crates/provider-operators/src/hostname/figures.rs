//! What is counted and measured of the operator, for whoever shows it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::reconcile::State;

/// Upper bounds of how long a host took, in milliseconds.
pub const BOUNDS: &[u64] = &[10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 15_000, 60_000];

/// What was counted since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Writes by what they did, and whether that went well.
    pub writes: BTreeMap<(&'static str, bool), u64>,
    /// Failures by what kind they were.
    pub failures: BTreeMap<&'static str, u64>,
    /// Hosts by how long they took from the first write to being as they should, in the order of
    /// [`BOUNDS`], then those that took longer.
    pub durations: Vec<u64>,
    /// How long all of them took, in milliseconds.
    pub milliseconds: u128,
}

/// How things are, and what was counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    pub hosts: BTreeMap<State, usize>,
    /// Hosts that wait to be looked at, or whose write is under way.
    pub queue: usize,
    pub leads: bool,
    pub counts: Counts,
}

impl Counts {
    pub(super) fn wrote(&mut self, verb: &'static str, is_well: bool) {
        increase(self.writes.entry((verb, is_well)).or_default());
    }

    pub(super) fn failed(&mut self, reason: &'static str) {
        increase(self.failures.entry(reason).or_default());
    }

    pub(super) fn took(&mut self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.durations.resize(BOUNDS.len() + 1, 0);
        let index = BOUNDS.partition_point(|bound| *bound < millis);
        if let Some(bucket) = self.durations.get_mut(index) {
            increase(bucket);
        }
        self.milliseconds = self.milliseconds.saturating_add(millis.into());
    }
}

const fn increase(count: &mut u64) {
    *count = count.saturating_add(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_fall_into_the_first_bound_that_holds_them() {
        let mut counts = Counts::default();
        for millis in [0, 10, 11, 60_000, 60_001] {
            counts.took(Duration::from_millis(millis));
        }
        assert_eq!(counts.durations, [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!(counts.milliseconds, 120_022);
    }
}
