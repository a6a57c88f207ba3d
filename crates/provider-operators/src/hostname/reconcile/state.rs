//! How a host is, in one word.

use std::collections::BTreeMap;

use provider_crd::names;

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
    /// All of them.
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
