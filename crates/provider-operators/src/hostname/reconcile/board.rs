//! All that is known of hosts, and which of them to look at.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use akash_types::{Address, LeaseId};
use provider_crd::names;
use provider_kube::client::{Failure, Kind};
use provider_kube::follow::Shown;

use super::found::Found;
use super::trouble::Trouble;
use super::{Decision, Moment, Write};
use crate::hostname::claim::{Claim, ClaimError};
use crate::hostname::offer::Offer;
use crate::hostname::settings::Settings;

/// All that is known of hosts, and which of them to look at.
#[derive(Clone, Debug)]
pub struct Board {
    settings: Settings,
    /// By the name of the `ProviderHost`.
    claims: BTreeMap<String, Claim>,
    unreadable: BTreeMap<String, ClaimError>,
    /// Names of `ProviderHost`s by hostname.
    claimed: BTreeMap<String, BTreeSet<String>>,
    /// Hostnames by the namespace of the lease that claims them.
    leased: BTreeMap<String, BTreeSet<String>>,
    /// By namespace.
    offers: BTreeMap<String, Offer>,
    /// By name, which is the hostname.
    routes: BTreeMap<String, BTreeMap<(Kind, String), Found>>,
    /// Names of routes by their namespace.
    placed: BTreeMap<String, BTreeSet<String>>,
    /// Providers whose custom resources were seen.
    providers: BTreeSet<Address>,
    listed: BTreeSet<Kind>,
    dirty: BTreeSet<String>,
    busy: BTreeSet<String>,
    /// Hosts that wait for their next try are not dirty until then.
    troubles: BTreeMap<String, Trouble>,
    later: BTreeSet<(Duration, String)>,
    served: BTreeMap<String, Served>,
    reasons: BTreeMap<String, Reason>,
    news: Vec<String>,
}

/// Why nothing is done about a host that somebody wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// In words.
    pub why: String,
    /// What kind of reason.
    pub kind: &'static str,
    /// Since when.
    pub since: Moment,
}

/// A host that has its route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// Who it is served to.
    pub claim: Claim,
    /// Since when it is as it is.
    pub since: Moment,
}

/// A write that is to be done now. What came of it has to be told ([`Board::done`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The host.
    pub host: String,
    /// The write.
    pub write: Write,
}

impl Board {
    /// Nothing is known yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            claims: BTreeMap::new(),
            unreadable: BTreeMap::new(),
            claimed: BTreeMap::new(),
            leased: BTreeMap::new(),
            offers: BTreeMap::new(),
            routes: BTreeMap::new(),
            placed: BTreeMap::new(),
            providers: BTreeSet::new(),
            listed: BTreeSet::new(),
            dirty: BTreeSet::new(),
            busy: BTreeSet::new(),
            troubles: BTreeMap::new(),
            later: BTreeSet::new(),
            served: BTreeMap::new(),
            reasons: BTreeMap::new(),
            news: Vec::new(),
        }
    }

    /// These are all objects of a kind.
    pub fn all(&mut self, kind: Kind, shown: Vec<Shown>) {
        let gone: Vec<(String, String)> = match kind {
            Kind::HOST => {
                let known = self.claims.keys().chain(self.unreadable.keys());
                known.map(|name| (name.clone(), String::new())).collect()
            }
            Kind::MANIFEST => self.offers.keys().map(|it| (it.clone(), String::new())).collect(),
            _ => {
                let routes = self.routes.iter();
                let of_kind = |(name, found): (&String, &BTreeMap<(Kind, String), Found>)| {
                    let found = found.keys().filter(|(it, _)| *it == kind);
                    found.map(|(_, namespace)| (name.clone(), namespace.clone())).collect()
                };
                routes.flat_map::<Vec<_>, _>(of_kind).collect()
            }
        };
        let mut gone: BTreeSet<_> = gone.into_iter().collect();
        let is_route = kind != Kind::HOST && kind != Kind::MANIFEST;
        for shown in shown {
            let namespace = if is_route { shown.namespace.clone() } else { String::new() };
            gone.remove(&(shown.name.clone(), namespace));
            self.is(kind, shown);
        }
        for (name, namespace) in gone {
            self.forget(kind, &name, &namespace);
        }
        self.listed.insert(kind);
    }

    /// An object came or changed.
    pub fn is(&mut self, kind: Kind, shown: Shown) {
        match kind {
            Kind::HOST => self.is_host(&shown),
            Kind::MANIFEST => self.is_manifest(&shown),
            _ => self.is_route(kind, shown),
        }
    }

    /// An object is gone.
    pub fn gone(&mut self, kind: Kind, shown: &Shown) {
        if kind != Kind::HOST && kind != Kind::MANIFEST {
            let key = (kind, shown.namespace.clone());
            let known = self.routes.get(&shown.name).and_then(|found| found.get(&key));
            let is_newer = known.and_then(|it| it.shown.number()) > shown.number();
            if is_newer && shown.number().is_some() {
                return;
            }
        }
        self.forget(kind, &shown.name, &shown.namespace);
    }

    /// Whether everything was seen that decisions are made from.
    #[must_use]
    pub fn is_known(&self) -> bool {
        let needed = [Kind::HOST, Kind::MANIFEST, self.settings.routes.kind()];
        needed.iter().all(|kind| self.listed.contains(kind))
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
            if self.troubles.get(&host).is_some_and(|trouble| trouble.until == until) {
                self.dirty.insert(host);
            }
        }
        while let Some(host) = self.dirty.iter().find(|host| !self.busy.contains(*host)).cloned() {
            self.dirty.remove(&host);
            let decision = self.decide(&host);
            self.note(&host, &decision, now);
            match decision {
                Decision::Write(write) => {
                    self.busy.insert(host.clone());
                    return Some(Job { host, write });
                }
                Decision::Served(claim) => {
                    self.troubles.remove(&host);
                    let known = self.served.get(&host);
                    if known.is_none_or(|known| known.claim != claim) {
                        self.served.insert(host, Served { claim, since: now });
                    }
                }
                Decision::Absent => {
                    self.troubles.remove(&host);
                    self.served.remove(&host);
                }
                // Told again when that changes.
                Decision::Waits(_) | Decision::Refused(_) => {
                    self.troubles.remove(&host);
                }
            }
        }
        None
    }

    /// What came of a write. After one that was answered, the host is looked at again.
    pub fn done(&mut self, job: &Job, result: Result<Option<Shown>, Failure>, now: Moment) {
        self.busy.remove(&job.host);
        match result {
            Ok(answer) => {
                self.served.remove(&job.host);
                self.look_at(&job.host);
                match (&job.write, answer) {
                    (Write::Delete { kind, namespace, exactly, .. }, _) => {
                        let found = self.routes.get_mut(&job.host);
                        let found = found.and_then(|it| it.get_mut(&(*kind, namespace.clone())));
                        if let Some(found) = found.filter(|found| found.exactly() == *exactly) {
                            found.is_ending = true;
                        }
                    }
                    (Write::Create { kind, .. } | Write::Replace { kind, .. }, Some(shown)) => {
                        self.is_route(*kind, shown);
                    }
                    (_, None) => {}
                }
            }
            Err(failure) => {
                let before = self.troubles.get(&job.host);
                let trouble = Trouble::after(before, &failure, now, self.settings.retry_delay);
                self.dirty.remove(&job.host);
                self.later.insert((trouble.until, job.host.clone()));
                self.troubles.insert(job.host.clone(), trouble);
            }
        }
    }

    /// When a host that failed is tried again, at the earliest, since the start.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        self.later.first().map(|(until, _)| *until)
    }

    /// Hosts that have their route.
    pub fn served(&self) -> impl Iterator<Item = (&str, &Served)> {
        self.served.iter().map(|(host, served)| (host.as_str(), served))
    }

    /// Hosts that failed.
    pub fn troubles(&self) -> impl Iterator<Item = (&str, &Trouble)> {
        self.troubles.iter().map(|(host, trouble)| (host.as_str(), trouble))
    }

    /// Hosts that wait or are refused.
    pub fn reasons(&self) -> impl Iterator<Item = (&str, &Reason)> {
        self.reasons.iter().map(|(host, reason)| (host.as_str(), reason))
    }

    /// Hosts whose reason is new since this was last asked.
    pub fn news(&mut self) -> Vec<(String, Reason)> {
        let news = std::mem::take(&mut self.news).into_iter();
        news.filter_map(|host| Some((host.clone(), self.reasons.get(&host)?.clone()))).collect()
    }

    /// Everything that is claimed: the hostname and who claims it.
    pub fn all_claims(&self) -> impl Iterator<Item = &Claim> {
        self.claims.values()
    }

    /// Whether a claim is the one that counts for its host.
    #[must_use]
    pub fn counts(&self, claim: &Claim) -> bool {
        self.holder(&claim.host).is_some_and(|holder| holder.object == claim.object)
    }

    /// Whether nothing is left to be done, now or later.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.is_known() && self.dirty.is_empty() && self.busy.is_empty() && self.troubles.is_empty()
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

    pub(super) fn offer(&self, namespace: &str) -> Option<&Offer> {
        self.offers.get(namespace)
    }

    pub(super) fn found(&self, host: &str) -> impl Iterator<Item = &Found> {
        self.routes.get(host).into_iter().flat_map(BTreeMap::values)
    }

    pub(super) fn has_seen(&self, provider: &Address) -> bool {
        self.providers.contains(provider)
    }

    fn is_host(&mut self, shown: &Shown) {
        let Some(host) = shown.typed(Kind::HOST) else {
            return;
        };
        let claim = Claim::of(&host);
        if claim.as_ref().ok().is_some_and(|claim| self.claims.get(&shown.name) == Some(claim)) {
            return;
        }
        self.forget(Kind::HOST, &shown.name, "");
        match claim {
            Ok(claim) => {
                self.saw(&claim.lease);
                let namespace = names::lease_namespace(&claim.lease);
                let object = claim.object.clone();
                self.claimed.entry(claim.host.clone()).or_default().insert(object.clone());
                self.leased.entry(namespace).or_default().insert(claim.host.clone());
                self.look_at(&claim.host);
                self.claims.insert(object, claim);
            }
            Err(error) => {
                self.look_at(&shown.name);
                self.unreadable.insert(shown.name.clone(), error);
            }
        }
    }

    fn is_manifest(&mut self, shown: &Shown) {
        // One that cannot be read is as good as none; the routes of its lease stay.
        let offer = shown.typed(Kind::MANIFEST).and_then(|manifest| Offer::of(&manifest).ok());
        if offer.as_ref() == self.offers.get(&shown.name) {
            return;
        }
        match offer {
            Some(offer) => {
                self.saw(&offer.lease);
                self.offers.insert(shown.name.clone(), offer);
            }
            None => {
                self.offers.remove(&shown.name);
            }
        }
        self.look_at_lease(&shown.name);
    }

    fn is_route(&mut self, kind: Kind, shown: Shown) {
        let (name, key) = (shown.name.clone(), (kind, shown.namespace.clone()));
        let Some(found) = Found::of(kind, shown) else {
            self.forget(kind, &name, &key.1);
            return;
        };
        let routes = self.routes.entry(name.clone()).or_default();
        let known = routes.get(&key);
        if known.is_some_and(|it| found.is_older_than(it) || it.shown == found.shown) {
            return;
        }
        self.placed.entry(key.1.clone()).or_default().insert(name.clone());
        routes.insert(key, found);
        self.mark(name);
    }

    fn forget(&mut self, kind: Kind, name: &str, namespace: &str) {
        match kind {
            Kind::HOST => {
                if self.unreadable.remove(name).is_some() {
                    self.look_at(name);
                }
                let Some(claim) = self.claims.remove(name) else {
                    return;
                };
                remove_from(&mut self.claimed, &claim.host, name);
                let leased = names::lease_namespace(&claim.lease);
                if !self.claims(&claim.host).any(|other| other.lease == claim.lease) {
                    remove_from(&mut self.leased, &leased, &claim.host);
                }
                self.look_at(&claim.host);
            }
            Kind::MANIFEST => {
                if self.offers.remove(name).is_some() {
                    self.look_at_lease(name);
                }
            }
            _ => {
                if let Some(found) = self.routes.get_mut(name) {
                    found.remove(&(kind, namespace.to_owned()));
                    if !found.keys().any(|(_, place)| place == namespace) {
                        remove_from(&mut self.placed, namespace, name);
                    }
                    if found.is_empty() {
                        self.routes.remove(name);
                    }
                    self.mark(name.to_owned());
                }
            }
        }
    }

    /// The lease's custom resources are seen: what nobody claims there is nobody's. Routes that
    /// waited for that are looked at.
    fn saw(&mut self, lease: &LeaseId) {
        let provider = lease.provider();
        if self.providers.insert(provider) {
            let theirs = |found: &BTreeMap<(Kind, String), Found>| {
                found.values().any(|found| found.lease.provider() == provider)
            };
            let waited = self.routes.iter().filter(|(_, found)| theirs(found));
            self.dirty.extend(waited.map(|(host, _)| host.clone()));
        }
    }

    fn note(&mut self, host: &str, decision: &Decision, now: Moment) {
        let (why, kind) = match decision {
            Decision::Waits(waits) => (waits.to_string(), "NotFound"),
            Decision::Refused(refusal) => (refusal.to_string(), "Refused"),
            Decision::Served(_) | Decision::Absent | Decision::Write(_) => {
                self.reasons.remove(host);
                return;
            }
        };
        if self.reasons.get(host).is_none_or(|known| known.why != why) {
            self.reasons.insert(host.to_owned(), Reason { why, kind, since: now });
            self.news.push(host.to_owned());
        }
    }

    /// What is there changed. A host that failed has its time.
    fn mark(&mut self, host: String) {
        if !self.troubles.contains_key(&host) {
            self.dirty.insert(host);
        }
    }

    /// What is wanted changed: a host that failed is tried again at once.
    fn look_at(&mut self, host: &str) {
        self.troubles.remove(host);
        self.dirty.insert(host.to_owned());
    }

    /// Hosts that the lease claims, and those that it held until now.
    fn look_at_lease(&mut self, namespace: &str) {
        let claimed = self.leased.get(namespace).cloned().unwrap_or_default();
        let held = self.placed.get(namespace).cloned().unwrap_or_default();
        for host in claimed.iter().chain(&held) {
            self.look_at(host);
        }
    }
}

fn remove_from(index: &mut BTreeMap<String, BTreeSet<String>>, key: &str, value: &str) {
    if let Some(values) = index.get_mut(key) {
        values.remove(value);
        if values.is_empty() {
            index.remove(key);
        }
    }
}
