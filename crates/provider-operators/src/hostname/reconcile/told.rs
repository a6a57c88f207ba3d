//! What is told of objects, and which hosts it is about.

use std::collections::{BTreeMap, BTreeSet};

use akash_types::LeaseId;
use provider_crd::names;
use provider_kube::client::Kind;
use provider_kube::follow::Shown;

use super::board::Board;
use super::found::Found;
use crate::hostname::claim::{Claim, ClaimError};
use crate::hostname::name;
use crate::hostname::offer::Offer;

impl Board {
    /// These are all objects of a kind.
    pub fn all(&mut self, kind: Kind, shown: Vec<Shown>) {
        if kind == Kind::SNIPPETS_FILTER {
            return self.all_filters(shown);
        }
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
            let known = match is_route {
                true => (name::host_of(&shown.name), shown.namespace.clone()),
                false => (shown.name.clone(), String::new()),
            };
            gone.remove(&known);
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
            Kind::SNIPPETS_FILTER => self.is_filter(shown),
            _ => self.is_route(kind, shown),
        }
    }

    /// An object is gone.
    pub fn gone(&mut self, kind: Kind, shown: &Shown) {
        if kind == Kind::SNIPPETS_FILTER {
            return self.filter_gone(shown);
        }
        if kind == Kind::HOST || kind == Kind::MANIFEST {
            return self.forget(kind, &shown.name, &shown.namespace);
        }
        let (host, key) = (name::host_of(&shown.name), (kind, shown.namespace.clone()));
        let known = self.routes.get(&host).and_then(|found| found.get(&key));
        let is_newer = known.and_then(|it| it.shown.number()) > shown.number();
        if !is_newer || shown.number().is_none() {
            self.forget(kind, &host, &shown.namespace);
        }
    }

    fn is_host(&mut self, shown: &Shown) {
        let unreadable = || ClaimError::Form { object: shown.name.clone() };
        let claim = shown.typed(Kind::HOST).ok_or_else(unreadable);
        let claim = claim.and_then(|host| Claim::of(&host));
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
                self.look_under(&claim.host);
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
        let (name, key) = (name::host_of(&shown.name), (kind, shown.namespace.clone()));
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
                self.lost.remove(name);
                remove_from(&mut self.claimed, &claim.host, name);
                let leased = names::lease_namespace(&claim.lease);
                if !self.claims(&claim.host).any(|other| other.lease == claim.lease) {
                    remove_from(&mut self.leased, &leased, &claim.host);
                }
                self.look_at(&claim.host);
                self.look_under(&claim.host);
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

    /// Hosts that a pattern is also for; there are few patterns.
    fn look_under(&mut self, pattern: &str) {
        if name::under(pattern).is_some() {
            let covered = self.claimed.keys().filter(|host| name::covers(pattern, host));
            for host in covered.cloned().collect::<Vec<_>>() {
                self.look_at(&host);
            }
        }
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
