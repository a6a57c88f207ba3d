//! What is due when.

use std::collections::BTreeSet;
use std::time::Duration;

use akash_types::LeaseId;

use super::pod::PodKey;

/// Something that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// A pod's state changes, if the pod still says so.
    Pod(LeaseId, PodKey),
    /// The last of a lease goes, if the lease still says so.
    Lease(LeaseId),
    /// Another look at pods without a place.
    Look,
    /// A late answer.
    Answer(u64),
    /// The API answers again.
    ApiBack,
}

/// What is due when, the earliest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers(BTreeSet<(Duration, Timer)>);

impl Timers {
    pub(super) fn set(&mut self, due: Duration, timer: Timer) {
        self.0.insert((due, timer));
    }

    pub(super) fn next_due(&self) -> Option<Duration> {
        self.0.first().map(|(due, _)| *due)
    }

    /// The earliest that is due until `now`.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<(Duration, Timer)> {
        self.0.first().is_some_and(|(due, _)| *due <= now).then(|| self.0.pop_first())?
    }

    /// Whether there is one already that is due by `due`.
    pub(super) fn has_look(&self, due: Duration) -> bool {
        self.0.iter().take_while(|(at, _)| *at <= due).any(|(_, timer)| *timer == Timer::Look)
    }
}
