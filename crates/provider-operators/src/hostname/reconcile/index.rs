//! Everything known of hosts, and which of them to reconcile.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use akash_types::Address;
use akash_types::hostname::BlockedHostnames;
use kube_access::follow::CachedObject;
use kube_access::{Failure, ResourceKind};

use super::filters::{Condition, Filters};
use super::gateway::Gateway;
use super::state::{ConflictGuard, ExistingRoute, RetryState};
use super::{Decision, Moment, Notice, Reason, State, Waits, Write};
use crate::hostname::backends::Backends;
use crate::hostname::claim::{Claim, ClaimError};
use crate::hostname::exposed::ExposedPorts;
use crate::hostname::figures::Counts;
use crate::hostname::name;
use crate::hostname::settings::{Implementation, Settings};

/// Everything known of hosts, and which of them to reconcile.
#[derive(Clone, Debug)]
pub struct HostIndex {
    pub(super) settings: Settings,
    /// By the name of the `ProviderHost`.
    pub(super) claims: BTreeMap<String, Claim>,
    pub(super) unreadable: BTreeMap<String, ClaimError>,
    /// Names of `ProviderHost`s by hostname.
    pub(super) claimed: BTreeMap<String, BTreeSet<String>>,
    /// Hostnames by the namespace of the lease that claims them.
    pub(super) leased: BTreeMap<String, BTreeSet<String>>,
    pub(super) exposed: BTreeMap<String, ExposedPorts>,
    /// By name, which is the hostname.
    pub(super) routes: BTreeMap<String, BTreeMap<(ResourceKind, String), ExistingRoute>>,
    /// Names of routes by their namespace.
    pub(super) placed: BTreeMap<String, BTreeSet<String>>,
    /// Providers whose custom resources were seen.
    pub(super) providers: BTreeSet<Address>,
    pub(super) listed: BTreeSet<ResourceKind>,
    pub(super) dirty: BTreeSet<String>,
    pub(super) busy: BTreeSet<String>,
    /// Hosts that wait for their next try are not dirty until then.
    pub(super) retries: BTreeMap<String, RetryState>,
    pub(super) later: BTreeSet<(Duration, String)>,
    pub(super) served: BTreeMap<String, Served>,
    pub(super) conflicts: ConflictGuard,
    pub(super) reasons: BTreeMap<String, Reason>,
    pub(super) news: Vec<String>,
    /// Who answers for services. No decision depends on it.
    pub backends: Backends,
    pub(super) notices: Vec<Notice>,
    /// Claims of hosts that another lease has, by the name of the `ProviderHost`.
    pub(super) lost: BTreeMap<String, Reason>,
    /// When the first write of a host began that is not as it should be yet.
    pub(super) begun: BTreeMap<String, Duration>,
    pub(super) counts: Counts,
    pub(super) implementation: Implementation,
    pub(super) gateway: Gateway,
    pub(super) filters: Filters,
    pub(super) conditions: BTreeMap<String, Condition>,
}

/// A host that has its route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    pub claim: Claim,
    pub since: Moment,
}

/// A write that is to be done now. What came of it has to be told ([`HostIndex::done`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub host: String,
    pub write: Write,
}

impl HostIndex {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            claims: BTreeMap::new(),
            unreadable: BTreeMap::new(),
            claimed: BTreeMap::new(),
            leased: BTreeMap::new(),
            exposed: BTreeMap::new(),
            routes: BTreeMap::new(),
            placed: BTreeMap::new(),
            providers: BTreeSet::new(),
            listed: BTreeSet::new(),
            dirty: BTreeSet::new(),
            busy: BTreeSet::new(),
            retries: BTreeMap::new(),
            later: BTreeSet::new(),
            served: BTreeMap::new(),
            conflicts: ConflictGuard::default(),
            reasons: BTreeMap::new(),
            news: Vec::new(),
            backends: Backends::default(),
            notices: Vec::new(),
            lost: BTreeMap::new(),
            begun: BTreeMap::new(),
            counts: Counts::default(),
            implementation: Implementation::Unknown,
            gateway: Gateway::default(),
            filters: Filters::default(),
            conditions: BTreeMap::new(),
        }
    }

    /// Whoever wrote does so no longer, and what came of it is not known: everything is read and
    /// looked at again.
    pub fn resume(&mut self) {
        self.listed.clear();
        self.dirty.append(&mut self.busy);
    }

    /// Whether everything was seen that decisions are made from.
    pub fn is_known(&self) -> bool {
        let needed = [ResourceKind::HOST, ResourceKind::MANIFEST, self.settings.routes.kind()];
        needed.iter().all(|kind| self.listed.contains(kind))
            && self.gateway_is_known()
            && self.filters_are_known()
    }

    /// The next write, if there is one to be done now. `None` before everything was seen.
    pub fn next(&mut self, now: Moment) -> Option<Job> {
        if !self.is_known() {
            return None;
        }
        while let Some((until, host)) = self.later.first().cloned() {
            if until > now.since_start {
                break;
            }
            self.later.pop_first();
            // Unless it was looked at since, for another reason.
            let is_due = self.retries.get(&host).is_some_and(|retry| retry.until == until);
            if is_due || self.has_waited(&host, now) {
                self.dirty.insert(host);
            }
        }
        while let Some(host) = self.dirty.iter().find(|host| !self.busy.contains(*host)).cloned() {
            self.dirty.remove(&host);
            let decision = self.decide(&host);
            self.note(&host, &decision, now);
            self.note_losers(&host, now);
            match decision {
                Decision::Write(write) => {
                    self.begun.entry(host.clone()).or_insert(now.since_start);
                    self.busy.insert(host.clone());
                    return Some(Job { host, write });
                }
                Decision::Served(claim) => {
                    self.retries.remove(&host);
                    self.ended(&host, now);
                    self.note_condition(&host, &claim);
                    let known = self.served.get(&host);
                    if known.is_none_or(|known| known.claim != claim) {
                        self.served.insert(host, Served { claim, since: now });
                    }
                }
                Decision::Absent => {
                    self.retries.remove(&host);
                    self.conflicts.forget(&host);
                    self.served.remove(&host);
                    self.conditions.remove(&host);
                    self.ended(&host, now);
                }
                Decision::Waits(Waits::Filter) => {
                    self.retries.remove(&host);
                    let until = self.waits_for_filter(&host, now);
                    self.later.insert((until, host));
                }
                // An event comes again when that changes.
                Decision::Waits(_) | Decision::Refused(_) => {
                    self.retries.remove(&host);
                    self.begun.remove(&host);
                }
            }
        }
        None
    }

    /// What came of a write. After one that was answered, the host is looked at again.
    pub fn done(&mut self, job: &Job, result: Result<Option<CachedObject>, Failure>, now: Moment) {
        self.busy.remove(&job.host);
        self.counts.wrote(job.write.verb(), result.is_ok());
        let delay = self.settings.retry_delay;
        let retry = match result {
            Ok(answer) => {
                self.served.remove(&job.host);
                self.retries.remove(&job.host);
                self.dirty.insert(job.host.clone());
                self.took(job, answer);
                let again = self.conflicts.wrote(&job.host, now.since_start);
                again.map(|again| RetryState::of_conflict(again, now, delay))
            }
            Err(failure) => {
                let before = self.retries.get(&job.host);
                Some(RetryState::after(before, &failure, now, delay))
            }
        };
        if let Some(retry) = retry {
            self.counts.failed(retry.kind);
            if retry.kind == "Refused" {
                self.notice(&job.host, State::Failing, retry.why.clone());
            }
            self.dirty.remove(&job.host);
            self.later.insert((retry.until, job.host.clone()));
            self.retries.insert(job.host.clone(), retry);
        }
    }

    /// Takes over what a write made of an object, before a watch tells it.
    fn took(&mut self, job: &Job, answer: Option<CachedObject>) {
        match (&job.write, answer) {
            (Write::Delete { kind, namespace, exactly, .. }, _) => {
                let found = self.routes.get_mut(&job.host);
                let found = found.and_then(|it| it.get_mut(&(*kind, namespace.clone())));
                if let Some(found) = found.filter(|found| found.exactly() == *exactly) {
                    found.is_ending = true;
                }
            }
            (Write::Create { kind, .. } | Write::Replace { kind, .. }, Some(shown)) => {
                self.applied(*kind, shown);
            }
            (_, None) => {}
        }
    }

    /// When a host that failed is tried again, at the earliest, since the start.
    pub fn due(&self) -> Option<Duration> {
        self.later.first().map(|(until, _)| *until)
    }

    /// Hosts that have their route.
    pub fn served(&self) -> impl Iterator<Item = (&str, &Served)> {
        self.served.iter().map(|(host, served)| (host.as_str(), served))
    }

    pub fn retries(&self) -> impl Iterator<Item = (&str, &RetryState)> {
        self.retries.iter().map(|(host, retry)| (host.as_str(), retry))
    }

    /// Everything that is claimed: the hostname and who claims it.
    pub fn all_claims(&self) -> impl Iterator<Item = &Claim> {
        self.claims.values()
    }

    pub fn counts(&self, claim: &Claim) -> bool {
        self.holder(&claim.host).is_some_and(|holder| holder.object == claim.object)
    }

    /// Whether nothing is left to be done, now or later.
    pub fn is_quiet(&self) -> bool {
        self.is_known() && self.dirty.is_empty() && self.busy.is_empty() && self.retries.is_empty()
    }

    pub(super) const fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(super) fn claims(&self, host: &str) -> impl Iterator<Item = &Claim> {
        let objects = self.claimed.get(host).into_iter().flatten();
        objects.filter_map(|object| self.claims.get(object))
    }

    pub(super) fn unreadable(&self, object: &str) -> Option<&ClaimError> {
        self.unreadable.get(object)
    }

    pub(super) fn exposed(&self, namespace: &str) -> Option<&ExposedPorts> {
        self.exposed.get(namespace)
    }

    pub(super) fn found(&self, host: &str) -> impl Iterator<Item = &ExistingRoute> {
        self.routes.get(host).into_iter().flat_map(BTreeMap::values)
    }

    pub(super) fn has_seen(&self, provider: &Address) -> bool {
        self.providers.contains(provider)
    }

    fn ended(&mut self, host: &str, now: Moment) {
        if let Some(begun) = self.begun.remove(host) {
            self.counts.took(now.since_start.saturating_sub(begun));
        }
    }

    /// Other names are blocked from now on. Hosts about which that says another thing are looked at;
    /// what is there of one that is blocked now stays.
    pub fn block(&mut self, blocked: BlockedHostnames) {
        let old = std::mem::replace(&mut self.settings.blocked, blocked);
        let changed = |host: &&String| {
            name::check(host, &old).is_ok() != name::check(host, &self.settings.blocked).is_ok()
        };
        for host in self.claimed.keys().filter(changed).cloned().collect::<Vec<_>>() {
            self.look_at(&host);
        }
    }

    /// What was counted since the start.
    pub const fn counted(&self) -> &Counts {
        &self.counts
    }

    /// What is there changed. A host that failed has its time.
    pub(super) fn mark(&mut self, host: String) {
        if !self.retries.contains_key(&host) {
            self.dirty.insert(host);
        }
    }

    /// What is wanted changed: a host that failed is tried again at once.
    pub(super) fn look_at(&mut self, host: &str) {
        self.retries.remove(host);
        self.conflicts.forget(host);
        self.forget_waiting(host);
        self.dirty.insert(host.to_owned());
    }
}
