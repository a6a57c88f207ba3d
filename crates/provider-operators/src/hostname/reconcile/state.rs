//! How a host is, in one word.

use std::collections::BTreeMap;
use std::time::Duration;

use akash_types::{Backoff, LeaseId};
use kube_access::follow::CachedObject;
use kube_access::{Failure, Preconditions, ResourceKind};
use provider_crd::{labels, names};

use super::Moment;
use super::index::HostIndex;
use crate::hostname::backends::Answers;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It has its route, and somebody answers, as far as that can be said.
    Routed,
    /// It has its route, and nobody answers.
    WithoutBackends,
    /// It waits for what its route needs.
    Waiting,
    Refused,
    Conflicting,
    /// Its route could not be written, and is tried again.
    Failing,
    /// Nobody has looked yet, or its write is under way.
    Pending,
}

impl State {
    pub const ALL: [Self; 7] = [
        Self::Routed,
        Self::WithoutBackends,
        Self::Waiting,
        Self::Refused,
        Self::Conflicting,
        Self::Failing,
        Self::Pending,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Routed => "routed",
            Self::WithoutBackends => "without_backends",
            Self::Waiting => "waiting",
            Self::Refused => "refused",
            Self::Conflicting => "conflicting",
            Self::Failing => "failing",
            Self::Pending => "pending",
        }
    }
}

impl HostIndex {
    /// How a host is; `None` if nobody wants it.
    pub fn state(&self, host: &str) -> Option<State> {
        let is_wanted = self.claimed.contains_key(host) || self.unreadable.contains_key(host);
        is_wanted.then(|| {
            if self.retries.contains_key(host) {
                return State::Failing;
            }
            if let Some(reason) = self.reasons.get(host) {
                return reason.state;
            }
            match self.answers(host) {
                None => State::Pending,
                Some(Answers::Nobody) => State::WithoutBackends,
                Some(Answers::Ready(_) | Answers::Unknown) => State::Routed,
            }
        })
    }

    /// Whether somebody answers for a host; `None` if it has no route.
    pub fn answers(&self, host: &str) -> Option<Answers> {
        let claim = &self.served.get(host)?.claim;
        Some(self.backends.of(&names::lease_namespace(&claim.lease), &claim.service))
    }

    /// How many hosts are how.
    pub fn states(&self) -> BTreeMap<State, usize> {
        let mut states: BTreeMap<_, _> = State::ALL.map(|state| (state, 0_usize)).into();
        let unreadable = self.unreadable.keys().filter(|it| !self.claimed.contains_key(*it));
        for state in self.claimed.keys().chain(unreadable).filter_map(|host| self.state(host)) {
            let count = states.entry(state).or_default();
            *count = count.saturating_add(1);
        }
        states
    }

    /// Hosts that wait to be looked at, or whose write is under way.
    pub fn queue(&self) -> usize {
        self.dirty.union(&self.busy).count()
    }
}

/// A route that is there and says that it is a lease's.
#[derive(Clone, Debug)]
pub(super) struct ExistingRoute {
    pub(super) kind: ResourceKind,
    pub(super) lease: LeaseId,
    pub(super) shown: CachedObject,
    /// Whether it was told to go.
    pub(super) is_ending: bool,
}

impl ExistingRoute {
    /// `None` for what is not a lease's: somebody else's object, which is left alone.
    pub(super) fn of(kind: ResourceKind, shown: CachedObject) -> Option<Self> {
        let part = |label: &str| shown.labels.get(label).map(String::as_str);
        let parts = [
            part(labels::LEASE_OWNER)?,
            part(labels::LEASE_DSEQ)?,
            part(labels::LEASE_GSEQ)?,
            part(labels::LEASE_OSEQ)?,
            part(labels::LEASE_PROVIDER)?,
        ];
        let lease: LeaseId = parts.join("/").parse().ok()?;
        let is_its = names::lease_namespace(&lease) == shown.namespace;
        let is_ending = shown.is_ending;
        is_its.then_some(Self { kind, lease, shown, is_ending })
    }

    /// This object, as it was seen.
    pub(super) fn exactly(&self) -> Preconditions {
        Preconditions {
            uid: Some(self.shown.uid.clone()),
            resource_version: Some(self.shown.version.clone()),
        }
    }

    /// Whether this was shown before `other`, as far as the API server counts.
    pub(super) fn is_older_than(&self, other: &Self) -> bool {
        matches!((self.shown.number(), other.shown.number()), (Some(a), Some(b)) if a < b)
    }
}

/// The longest pause between two tries.
const LONGEST: Duration = Duration::from_mins(5);
/// The first pause after somebody else wrote the same object: what they wrote is told soon.
const CONFLICT: Duration = Duration::from_millis(100);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryState {
    pub failures: u32,
    pub why: String,
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
