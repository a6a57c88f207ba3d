//! What is told of objects, and which hosts it is about.

use std::collections::{BTreeMap, BTreeSet};

use akash_types::LeaseId;
use kube_access::ResourceKind;
use kube_access::follow::CachedObject;
use provider_crd::names;

use super::index::HostIndex;
use super::state::ExistingRoute;
use crate::hostname::claim::{Claim, ClaimError};
use crate::hostname::exposed::ExposedPorts;
use crate::hostname::name;

impl HostIndex {
    pub fn synced(&mut self, kind: ResourceKind, shown: Vec<CachedObject>) {
        if kind == ResourceKind::SNIPPETS_FILTER {
            return self.all_filters(shown);
        }
        if Self::is_of_gateway(kind) {
            return self.all_of_gateway(kind, shown);
        }
        let gone: Vec<(String, String)> = match kind {
            ResourceKind::HOST => {
                let known = self.claims.keys().chain(self.unreadable.keys());
                known.map(|name| (name.clone(), String::new())).collect()
            }
            ResourceKind::MANIFEST => {
                self.exposed.keys().map(|it| (it.clone(), String::new())).collect()
            }
            _ => {
                let routes = self.routes.iter();
                let of_kind =
                    |(name, found): (&String, &BTreeMap<(ResourceKind, String), ExistingRoute>)| {
                        let found = found.keys().filter(|(it, _)| *it == kind);
                        found.map(|(_, namespace)| (name.clone(), namespace.clone())).collect()
                    };
                routes.flat_map::<Vec<_>, _>(of_kind).collect()
            }
        };
        let mut gone: BTreeSet<_> = gone.into_iter().collect();
        let is_route = kind != ResourceKind::HOST && kind != ResourceKind::MANIFEST;
        for shown in shown {
            let known = match is_route {
                true => (name::host_of(&shown.name), shown.namespace.clone()),
                false => (shown.name.clone(), String::new()),
            };
            gone.remove(&known);
            self.applied(kind, shown);
        }
        for (name, namespace) in gone {
            self.forget(kind, &name, &namespace);
        }
        self.listed.insert(kind);
    }

    /// An object came or changed.
    pub fn applied(&mut self, kind: ResourceKind, shown: CachedObject) {
        match kind {
            ResourceKind::HOST => self.is_host(&shown),
            ResourceKind::MANIFEST => self.is_manifest(&shown),
            ResourceKind::SNIPPETS_FILTER => self.is_filter(shown),
            ResourceKind::GATEWAY | ResourceKind::GATEWAY_CLASS => {
                self.is_of_gateway_now(kind, &shown);
            }
            _ => self.is_route(kind, shown),
        }
    }

    pub fn deleted(&mut self, kind: ResourceKind, shown: &CachedObject) {
        if kind == ResourceKind::SNIPPETS_FILTER {
            return self.filter_gone(shown);
        }
        if Self::is_of_gateway(kind) {
            return;
        }
        if kind == ResourceKind::HOST || kind == ResourceKind::MANIFEST {
            return self.forget(kind, &shown.name, &shown.namespace);
        }
        let (host, key) = (name::host_of(&shown.name), (kind, shown.namespace.clone()));
        let known = self.routes.get(&host).and_then(|found| found.get(&key));
        let is_newer = known.and_then(|it| it.shown.number()) > shown.number();
        if !is_newer || shown.number().is_none() {
            self.forget(kind, &host, &shown.namespace);
        }
    }

    fn is_host(&mut self, shown: &CachedObject) {
        let unreadable = || ClaimError::Form { object: shown.name.clone() };
        let claim = shown.typed(ResourceKind::HOST).ok_or_else(unreadable);
        let claim = claim.and_then(|host| Claim::of(&host));
        if claim.as_ref().ok().is_some_and(|claim| self.claims.get(&shown.name) == Some(claim)) {
            return;
        }
        self.forget(ResourceKind::HOST, &shown.name, "");
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

    fn is_manifest(&mut self, shown: &CachedObject) {
        // One that cannot be read is as good as none; the routes of its lease stay.
        let exposed = shown
            .typed(ResourceKind::MANIFEST)
            .and_then(|manifest| ExposedPorts::of(&manifest).ok());
        if exposed.as_ref() == self.exposed.get(&shown.name) {
            return;
        }
        match exposed {
            Some(exposed) => {
                self.saw(&exposed.lease);
                self.exposed.insert(shown.name.clone(), exposed);
            }
            None => {
                self.exposed.remove(&shown.name);
            }
        }
        self.look_at_lease(&shown.name);
    }

    fn is_route(&mut self, kind: ResourceKind, shown: CachedObject) {
        let (name, key) = (name::host_of(&shown.name), (kind, shown.namespace.clone()));
        let Some(found) = ExistingRoute::of(kind, shown) else {
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

    fn forget(&mut self, kind: ResourceKind, name: &str, namespace: &str) {
        match kind {
            ResourceKind::HOST => {
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
            ResourceKind::MANIFEST => {
                if self.exposed.remove(name).is_some() {
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
            let theirs = |found: &BTreeMap<(ResourceKind, String), ExistingRoute>| {
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
