//! When a host is tried again: after a failure, and after too many writes.

use std::collections::BTreeMap;
use std::time::Duration;

use akash_types::Backoff;
use kube_access::Failure;

use super::Moment;

/// The longest pause between two tries.
const LONGEST: Duration = Duration::from_mins(5);
/// The first pause after somebody else wrote the same object: what they wrote is told soon.
const CONFLICT: Duration = Duration::from_millis(100);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryState {
    pub failures: u32,
    pub why: String,
    /// What kind of failure it was.
    pub kind: &'static str,
    pub at: Moment,
    /// When it is tried again, since the start.
    pub until: Duration,
}

impl RetryState {
    /// One more failure than `before`.
    pub(super) fn after(
        before: Option<&Self>,
        failure: &Failure,
        now: Moment,
        delay: Duration,
    ) -> Self {
        let failures = before.map_or(0, |before| before.failures).saturating_add(1);
        let kind = match failure {
            Failure::NotFound(_) => "NotFound",
            Failure::Conflict(_) => "Conflict",
            Failure::Unavailable { .. } => "Unavailable",
            Failure::Refused(_) => "Refused",
        };
        let until = now.since_start.saturating_add(pause(failures, failure, delay));
        Self { failures, why: failure.to_string(), kind, at: now, until }
    }

    /// Written too often: somebody else changes it back.
    pub(super) fn of_conflict(failures: u32, now: Moment, delay: Duration) -> Self {
        let why = "its route is changed as often as it is written: let only one hostname operator \
                   run, or give all the same settings";
        let pause = pause(failures, &Failure::Refused(String::new()), delay);
        let until = now.since_start.saturating_add(pause);
        Self { failures, why: why.to_owned(), kind: "Quarrel", at: now, until }
    }
}

/// How long to wait after so many failures in a row. Exact, because decisions are repeatable.
fn pause(failures: u32, failure: &Failure, delay: Duration) -> Duration {
    let (first, wished) = match failure {
        Failure::Conflict(_) => (CONFLICT.min(delay), Duration::ZERO),
        Failure::Unavailable { after, .. } => (delay, after.unwrap_or_default()),
        Failure::NotFound(_) | Failure::Refused(_) => (delay, Duration::ZERO),
    };
    Backoff { first, most: LONGEST }.after(failures, 0).max(wished.min(LONGEST))
}

/// Writes that a change of what is wanted may take: a move is a delete and a create, and a route of
/// the other kind may have to go.
const USUAL: u32 = 4;
/// After so long without a write, the count begins again.
const PEACE: Duration = Duration::from_mins(10);

/// Counts the writes of each host since what is wanted changed, with the time of the last: two
/// operators with different settings would write in turn without end. One write too many is a
/// failure, after which the host waits.
#[derive(Clone, Debug, Default)]
pub(super) struct ConflictGuard(BTreeMap<String, (u32, Duration)>);

impl ConflictGuard {
    /// A host was written; by how many writes that is too often, if it is.
    pub(super) fn wrote(&mut self, host: &str, now: Duration) -> Option<u32> {
        let (writes, last) = self.0.entry(host.to_owned()).or_insert((0, now));
        if now.saturating_sub(*last) >= PEACE {
            *writes = 0;
        }
        (*writes, *last) = (writes.saturating_add(1), now);
        writes.checked_sub(USUAL).filter(|above| *above > 0)
    }

    /// What is wanted of a host changed.
    pub(super) fn forget(&mut self, host: &str) {
        self.0.remove(host);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit_and_conflicts_are_short() {
        let delay = Duration::from_secs(3);
        let millis = |failure: &Failure| {
            [1, 2, 3, 60].map(|failures| pause(failures, failure, delay).as_millis())
        };
        let refused = Failure::Refused(String::new());
        assert_eq!(millis(&refused), [3000, 6000, 12_000, 300_000]);
        let conflict = Failure::Conflict(String::new());
        assert_eq!(millis(&conflict), [100, 200, 400, 300_000]);
        let after = Some(Duration::from_secs(20));
        let full = Failure::Unavailable { why: String::new(), after, silent: false };
        assert_eq!(millis(&full), [20_000, 20_000, 20_000, 300_000]);
    }
}
