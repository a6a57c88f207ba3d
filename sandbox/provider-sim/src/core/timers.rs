//! What is due when.

use std::collections::BTreeSet;
use std::time::Duration;

use akash_types::LeaseId;

use super::pod::PodKey;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// A pod's state changes, if the pod still says so.
    Pod(LeaseId, PodKey),
    /// The last of a lease goes, if the lease still says so.
    Lease(LeaseId),
    /// Another look at pods without a place.
    Look,
    Answer(u64),
    ApiBack,
}

/// What is due when, the earliest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    due: BTreeSet<(Duration, Timer)>,
    /// Whether another look is due; one is enough.
    looks: bool,
}

impl Timers {
    pub(super) fn set(&mut self, due: Duration, timer: Timer) {
        self.due.insert((due, timer));
    }

    /// Sets another look, unless one is due anyway.
    pub(super) fn set_look(&mut self, due: Duration) {
        if !self.looks {
            self.looks = true;
            self.set(due, Timer::Look);
        }
    }

    pub(super) fn next_due(&self) -> Option<Duration> {
        self.due.first().map(|(due, _)| *due)
    }

    /// The earliest that is due until `now`.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<(Duration, Timer)> {
        self.due.first().filter(|(due, _)| *due <= now)?;
        let taken = self.due.pop_first();
        self.looks &= !matches!(taken, Some((_, Timer::Look)));
        taken
    }
}
