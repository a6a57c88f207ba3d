//! Why hosts are not served, and who is to be told.

use super::index::HostIndex;
use super::{Condition, Decision, Moment, Refusal, State};
use crate::hostname::claim::Claim;

/// Why nothing is done about a host that somebody wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    pub why: String,
    pub kind: &'static str,
    pub state: State,
    pub since: Moment,
}

/// What a tenant is to be told: their host is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub claim: Claim,
    pub state: State,
    pub why: String,
}

impl HostIndex {
    /// Hosts that wait or are refused.
    pub fn reasons(&self) -> impl Iterator<Item = (&str, &Reason)> {
        self.reasons.iter().map(|(host, reason)| (host.as_str(), reason))
    }

    /// Hosts whose reason is new since this was last asked.
    pub fn news(&mut self) -> Vec<(String, Reason)> {
        let news = std::mem::take(&mut self.news).into_iter();
        news.filter_map(|host| Some((host.clone(), self.reasons.get(&host)?.clone()))).collect()
    }

    /// Takes down why nothing is done, if nothing is.
    pub(super) fn note(&mut self, host: &str, decision: &Decision, now: Moment) {
        let (why, kind, state) = match decision {
            Decision::Waits(waits) => (waits.to_string(), "NotFound", State::Waiting),
            Decision::Refused(refusal @ Refusal::Held { .. }) => {
                (refusal.to_string(), "Conflict", State::Conflicting)
            }
            Decision::Refused(refusal) => (refusal.to_string(), "Refused", State::Refused),
            Decision::Served(_) | Decision::Absent | Decision::Write(_) => {
                self.reasons.remove(host);
                return;
            }
        };
        if self.reasons.get(host).is_none_or(|known| known.why != why) {
            if state != State::Waiting {
                self.notice(host, state, why.clone());
            }
            self.reasons.insert(host.to_owned(), Reason { why, kind, state, since: now });
            self.news.push(host.to_owned());
        }
    }

    /// Takes down what the route of a host lacks that is served, and tells its tenant once, if the
    /// tenant asked for any of it.
    pub(super) fn note_condition(&mut self, host: &str, claim: &Claim) {
        let Some(condition) = self.condition_of(claim) else {
            self.conditions.remove(host);
            return;
        };
        if self.conditions.get(host) == Some(&condition) {
            return;
        }
        if !condition.options.is_empty() {
            let why = format!("{}: {}", condition.options.join(", "), condition.why);
            let claim = claim.clone();
            self.notices.push(Notice { claim, state: State::Routed, why });
        }
        self.conditions.insert(host.to_owned(), condition);
    }

    /// What the route of a host lacks, if it serves and lacks something.
    pub fn condition(&self, host: &str) -> Option<&Condition> {
        self.conditions.get(host)
    }

    /// Who claims a host that another lease has is told so once.
    pub(super) fn note_losers(&mut self, host: &str, now: Moment) {
        let Some(by) = self.holder(host).map(|holder| holder.lease) else {
            return;
        };
        for claim in self.claims(host).cloned().collect::<Vec<_>>() {
            if claim.lease == by {
                self.lost.remove(&claim.object);
                continue;
            }
            let why = Refusal::Held { host: host.to_owned(), by }.to_string();
            if self.lost.get(&claim.object).is_none_or(|known| known.why != why) {
                let (kind, state) = ("Conflict", State::Conflicting);
                let reason = Reason { why: why.clone(), kind, state, since: now };
                self.lost.insert(claim.object.clone(), reason);
                self.notices.push(Notice { claim, state, why });
            }
        }
    }

    /// Why a claim is not the one that counts for its host, if another lease's is.
    pub fn lost(&self, claim: &Claim) -> Option<&Reason> {
        self.lost.get(&claim.object)
    }

    /// The tenant who has a host is to be told this.
    pub(super) fn notice(&mut self, host: &str, state: State, why: String) {
        if let Some(claim) = self.holder(host).cloned() {
            self.notices.push(Notice { claim, state, why });
        }
    }

    /// What tenants are to be told, since this was last asked.
    pub fn notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }
}
